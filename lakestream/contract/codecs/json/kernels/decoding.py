"""Decodes rows to columns: reads each row, writes it again by its shape, and compares; equal is exact."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable, var-annotated"

import numpy as np

from lakestream.contract.codecs.json.kernels import faults
from lakestream.contract.codecs.json.kernels.compiling import kernel
from lakestream.contract.codecs.json.kernels.memory import (
    item32,
    item64,
    put_byte,
    put_int32,
    put_item64,
    same_bytes,
    set_bit,
)
from lakestream.contract.codecs.json.kernels.rows import NEW_SHAPE, clear_row, row_read
from lakestream.contract.codecs.json.kernels.unknown_keys import count_unknown
from lakestream.contract.codecs.json.kernels.views import ARENA, POOL, REST_END, REST_START, UNKNOWN_NOW
from lakestream.contract.codecs.json.kernels.writing import encoded_row


@kernel
def decode_rows(first, declared, may_grow, untried, source, fields, keys, tree, work):
    """Decode from row `first` on. Returns the row that would be the first of a new shape, or at the end the number of
    rows.

    The tokens of such a row are in `work`. Add the shape to the tree and call again from the same row. Rows before
    `untried` do not ask for new shapes.
    """
    count = source.offsets.size - 1
    for row in range(first, count):
        start = source.address + np.int64(source.offsets[row])
        end = source.address + np.int64(source.offsets[row + 1])
        arena = item64(work.state, ARENA)
        pool = item64(work.state, POOL)
        put_item64(work.state, REST_START, item64(work.state, REST_END))
        put_item64(work.state, UNKNOWN_NOW, 0)
        fault, at, column, node = row_read(row, start, end, declared, fields, keys, tree, work)
        if fault != faults.OK:
            put_byte(work.fault + row, fault)
            put_int32(work.fault_at + 4 * row, at - start)
            put_int32(work.fault_column + 4 * row, column)
            clear_row(fields, row)
        elif node >= 0:
            shape = item32(tree.node_shape, node)
            for n in range(item32(tree.shape_opens, shape), item32(tree.shape_opens, shape + 1)):
                set_bit(item64(fields.valid, item32(tree.shape_opened, n)), row)
            after = encoded_row(row, shape, tree, fields, work.scratch, work.scratch_end)
            if after - work.scratch == end - start and same_bytes(work.scratch, start, end - start):
                put_int32(work.shape + 4 * row, shape)
                put_byte(work.exact + row, 1)
        elif node == NEW_SHAPE and may_grow and row >= untried:
            put_item64(work.state, ARENA, arena)
            put_item64(work.state, POOL, pool)
            put_item64(work.state, REST_END, item64(work.state, REST_START))
            return row
        elif item64(work.state, UNKNOWN_NOW) > 0:
            count_unknown(work)
    return count
