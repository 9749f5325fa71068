"""Encodes columns to rows: encode_rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.avro.kernels import faults
from lakestream.contract.codecs.avro.kernels.compiling import kernel
from lakestream.contract.codecs.avro.kernels.memory import get, put
from lakestream.contract.codecs.avro.kernels.row_writing import write_row


@kernel
def encode_rows(out, room, offsets, first, ops, nodes, levels, symbols, symbol_starts, ranks):
    """Encode from row `first` on: (fault, row, instruction). With NO_ROOM: call again with this row and more room.

    `out` has SLACK_BYTES (row_writing.py) behind its room.
    """
    at = np.int64(get(offsets, first))
    for row in range(first, offsets.size - 1):
        put(levels, 0, row)
        fault, pc, at = write_row(out, at, room, ops, nodes, levels, symbols, symbol_starts, ranks)
        if fault != faults.OK:
            return fault, np.int64(row), pc
        put(offsets, row + 1, np.int32(at))
    return faults.OK, np.int64(offsets.size - 1), np.int64(0)
