"""Writes values from cells: write_rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.contract.codecs.protobuf.kernels.compiling import kernel
from lakestream.contract.codecs.protobuf.kernels.row_writing import put_row
from lakestream.contract.codecs.protobuf.kernels.tables import FRAME_MESSAGE


@kernel
def write_rows(out, prefix, tables, cells, offsets, stack):
    """Write all rows, the last one first, at the end of `out`. Returns where the first begins, or -1 without room."""
    at = np.int64(out.size)
    stack[0, FRAME_MESSAGE] = 0
    for row in range(offsets.size - 2, -1, -1):
        offsets[row + 1] = at
        at = put_row(out, at, row, tables, cells, stack)
        if at < prefix.size:
            return np.int64(-1)
        at -= prefix.size
        for k in range(prefix.size):
            out[at + k] = prefix[k]
    offsets[0] = at
    return at
