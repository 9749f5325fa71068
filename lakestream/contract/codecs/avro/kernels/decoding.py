"""Decodes rows to columns: decode_rows, then finish."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.compiling import kernel
from lakestream.contract.codecs.avro.kernels.memory import get, put
from lakestream.contract.codecs.avro.kernels.nodes import NODE_CELLS, OFFSETS, ON_LEVEL, fill
from lakestream.contract.codecs.avro.kernels.ops import NODE, OP_CELLS
from lakestream.contract.codecs.avro.kernels.row_reading import read_row
from lakestream.contract.codecs.avro.kernels.undoing import take_back


@kernel
def decode_rows(data, offsets, first, ops, nodes, levels, starts, stack, symbols, symbol_starts, failures, failed):
    """Decode from row `first` on: (row, rows that failed so far, node that has no room or -1).

    If it returns a node, give that node room and call again with this row. A row that fails leaves only its entry in
    `failures`.
    """
    for row in range(first, offsets.size - 1):
        at = np.int64(get(offsets, row))
        end = np.int64(get(offsets, row + 1))
        put(levels, 0, row)
        fault, pc, detail, at = read_row(data, at, end, ops, nodes, levels, stack, symbols, symbol_starts)
        if fault != faults.OK:
            take_back(nodes, levels, starts, row)
            if fault == faults.NO_ROOM:
                return row, failed, get(ops, pc * OP_CELLS + NODE) // NODE_CELLS
            entry = failed * faults.FAULT_CELLS
            put(failures, entry, row)
            put(failures, entry + 1, np.int64(fault))
            put(failures, entry + 2, pc)
            put(failures, entry + 3, detail)
            put(failures, entry + 4, max(np.int64(0), end - at))
            failed += 1
    return np.int64(offsets.size - 1), failed, np.int64(-1)


@kernel
def finish(nodes, levels, rows):
    """Fill in the offsets behind the last value of each node: the slots there have no values."""
    put(levels, 0, np.int64(rows))
    for number in range(nodes.size // NODE_CELLS):
        node = number * NODE_CELLS
        if get(nodes, node + OFFSETS) != 0:
            fill(nodes, node, get(levels, get(nodes, node + ON_LEVEL)))
