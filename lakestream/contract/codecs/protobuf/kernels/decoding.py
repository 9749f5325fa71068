"""Reads values into cells: read_rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.compiling import kernel
from lakestream.contract.codecs.protobuf.kernels.row_reading import read_row
from lakestream.contract.codecs.protobuf.kernels.tables import FAULT_CODE, FRAME_MESSAGE, OK, OTHER_MESSAGE
from lakestream.world.compiled.compiling import small


@small
def _behind_prefix(buffer, at, end, prefix, other_prefix):
    """The position behind the prefix of the message, in one of its two forms; -1 if the prefix names another
    message."""
    if end - at >= prefix.size:
        same = True
        for k in range(prefix.size):
            same &= buffer[at + k] == prefix[k]
        if same:
            return at + prefix.size
    if other_prefix.size and end - at >= other_prefix.size:
        for k in range(other_prefix.size):
            if buffer[at + k] != other_prefix[k]:
                return np.int64(-1)
        return at + other_prefix.size
    return np.int64(-1)


@kernel
def read_rows(buffer, offsets, prefix, other_prefix, tables, cells, levels, faults, stack, write):
    """Read all rows that have no fault yet. Without `write` it only checks them and counts levels.

    A faulty row leaves no entries, and its own cells are cleared again.
    """
    stack[0, FRAME_MESSAGE] = 0
    for row in range(offsets.size - 1):
        fault = faults[row]
        if fault[FAULT_CODE] != OK:
            continue
        end = np.int64(offsets[row + 1])
        at = _behind_prefix(buffer, np.int64(offsets[row]), end, prefix, other_prefix)
        if at < 0:
            fault[FAULT_CODE] = OTHER_MESSAGE
            continue
        for level in range(levels.counts.size):
            levels.before[level] = levels.counts[level]
        code = read_row(buffer, at, end, row, tables, cells, levels, fault, stack, write)
        if code == OK:
            continue
        fault[FAULT_CODE] = code
        for level in range(levels.counts.size):
            levels.counts[level] = levels.before[level]
        if write:
            for node in range(tables.level_widths[0]):
                cells.numbers[cells.bases[node] + row] = 0
                cells.lengths[cells.bases[node] + row] = 0
                cells.valid[cells.bases[node] + row] = 0
