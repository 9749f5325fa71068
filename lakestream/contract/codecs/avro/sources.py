"""Turns Arrow columns into the nodes that the encoding kernels read: addresses of their buffers, slices included."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.avro.kernels.nodes import (
    DATA,
    DATA_BIT,
    ITEM_LEVEL,
    NODE_CELLS,
    OFFSETS,
    VALID,
    VALID_BIT,
)
from lakestream.contract.codecs.avro.program import AvroProgram
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT
from lakestream.contract.columns.layout import Layout


def sources(program: AvroProgram, layout: Layout, columns: pa.RecordBatch) -> NDArray[np.int64]:
    """The table of nodes. The caller must keep `columns` alive as long as it uses the table."""
    table = np.zeros((len(program.nodes), NODE_CELLS), dtype=np.int64)
    for number, node in enumerate(program.nodes):
        table[number, ITEM_LEVEL] = node.item_level
    for column, array in zip(layout.columns, columns.columns, strict=True):
        _source(table, program, column, array)
    return table.reshape(-1)


def _source(table: NDArray[np.int64], program: AvroProgram, column: Column, array: pa.Array) -> None:
    number = program.columns.get(column.id)
    if number is None:
        return
    node, cells, buffers, first = program.nodes[number], table[number], array.buffers(), array.offset
    if buffers[0] is not None and array.null_count:
        cells[VALID], cells[VALID_BIT] = buffers[0].address, first
    if node.offsets:
        cells[OFFSETS] = _address(buffers[1]) + 4 * first
        cells[DATA] = _address(buffers[2]) if node.is_bytes else 0
    elif node.bits and column.kind != STRUCT:
        cells[DATA], cells[DATA_BIT] = _address(buffers[1]), first
    elif node.width:
        cells[DATA] = _address(buffers[1]) + node.width * first
    for child, part in zip(column.children, _parts(column, array), strict=True):
        _source(table, program, child, part)


def _parts(column: Column, array: pa.Array) -> list[pa.Array]:
    if column.kind == STRUCT:
        return [array.field(place) for place in range(len(column.children))]
    if column.kind == LIST:
        return [array.values]
    if column.kind == MAP:
        return [array.keys, array.items]
    return []


def _address(buffer: pa.Buffer | None) -> int:
    return 0 if buffer is None else buffer.address
