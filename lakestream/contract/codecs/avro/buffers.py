"""Arrow's buffers of one decoded batch: allocated by a guess, grown when a kernel asks, then made into arrays.

The number of rows is known, the numbers of bytes and items are not. Memory that is never touched costs nothing, so
guesses of bytes are generous, and buffers for bytes are not cleared.
"""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.avro.kernels.nodes import (
    DATA,
    HAS_BITS,
    ITEM_LEVEL,
    NODE_CELLS,
    OFFSETS,
    ON_LEVEL,
    POSITION,
    ROOM,
    VALID,
)
from lakestream.contract.codecs.avro.kernels.texts import WORD_BYTES
from lakestream.contract.codecs.avro.program import ROWS, AvroProgram, Node
from lakestream.contract.codecs.avro.text import texts
from lakestream.contract.columns.arrow import arrow_schema, arrow_type
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT
from lakestream.contract.columns.layout import Layout

BYTES_FIRST = 1024
ITEMS_FIRST = 64
POSITION_MAX = 2**31 - 1
"""Arrow counts bytes and items of a column in 32 bits."""
GROWN_BYTES_MAX = 256 * 1024 * 1024
GROWN_BYTES_PER_INPUT_BYTE = 16
"""The most that a batch may unfold to: a list of unions takes a byte an item in Avro, and a value of each branch in
columns."""


class AvroBuffers:
    """The buffers of all nodes. `nodes` and `levels` are the kernels' tables; this object keeps the arrays that they
    point to alive."""

    def __init__(self, program: AvroProgram, rows: int, input_bytes: int) -> None:
        self._program = program
        self._rows = rows
        self._growable_bytes = GROWN_BYTES_MAX + GROWN_BYTES_PER_INPUT_BYTE * input_bytes
        self.nodes = np.zeros(len(program.nodes) * NODE_CELLS, dtype=np.int64)
        self.levels = np.zeros(program.levels, dtype=np.int64)
        self._arrays: list[dict[int, NDArray[np.uint8]]] = [{} for _ in program.nodes]
        byte_nodes = sum(node.is_bytes for node in program.nodes)
        self._bytes_first = BYTES_FIRST + min(input_bytes, 3 * input_bytes // max(1, byte_nodes))
        for number, node in enumerate(program.nodes):
            self._make(number, node, rows if node.level == ROWS else ITEMS_FIRST)

    def grow(self, number: int) -> bool:
        """Double the room of a node; False if a limit forbids it."""
        node = self._program.nodes[number]
        room = 2 * self._cell(number, ROOM)
        if room > POSITION_MAX:
            return False
        if node.item_level < 0:
            return self._resize(number, DATA, room + WORD_BYTES) and self._set(number, ROOM, room)
        below = [other for other, one in enumerate(self._program.nodes) if one.level == node.item_level]
        return all(self._size_to(other, room) for other in below) and self._set(number, ROOM, room)

    def batch(self, layout: Layout, failed: NDArray[np.int64]) -> pa.RecordBatch:
        decoded = np.ones(self._rows, dtype=np.bool_)
        decoded[failed] = False
        self._decoded = None if failed.size == 0 else pa.py_buffer(np.packbits(decoded, bitorder="little"))
        arrays = [self._array(column, self._rows) for column in layout.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(layout.columns))

    # --- room ----------------------------------------------------------------------------------

    def _make(self, number: int, node: Node, slots: int) -> None:
        self._set(number, ON_LEVEL, node.level)
        self._set(number, ITEM_LEVEL, node.item_level)
        self._set(number, HAS_BITS, int(node.bits))
        self._size_to(number, slots)
        if node.is_bytes:
            self._resize(number, DATA, self._bytes_first + WORD_BYTES)
            self._set(number, ROOM, self._bytes_first)
        elif node.item_level >= 0:
            self._set(number, ROOM, ITEMS_FIRST)

    def _size_to(self, number: int, slots: int) -> bool:
        """Make room for so many values, or for so many offsets of a node with bytes or items."""
        node = self._program.nodes[number]
        bitmap_bytes = slots // 8 + 2  # taking a row back clears a bit behind the last slot
        done = node.always or self._resize(number, VALID, bitmap_bytes)
        if node.bits:
            done = done and self._resize(number, DATA, bitmap_bytes)
        elif node.width:
            done = done and self._resize(number, DATA, slots * node.width + 8)
        if node.offsets:
            done = done and self._resize(number, OFFSETS, 4 * (slots + 2))
        return done

    def _resize(self, number: int, cell: int, size: int) -> bool:
        old = self._arrays[number].get(cell)
        if old is not None:
            self._growable_bytes -= size - old.size
            if self._growable_bytes < 0:
                return False
        is_text = cell == DATA and self._program.nodes[number].is_bytes
        new = self._allocated(size, cleared=not is_text)
        if old is not None:
            new[: old.size] = old
        self._arrays[number][cell] = new
        return self._set(number, cell, new.ctypes.data)

    def _allocated(self, size: int, *, cleared: bool) -> NDArray[np.uint8]:
        return np.zeros(size, dtype=np.uint8) if cleared else np.empty(size, dtype=np.uint8)

    def _cell(self, number: int, cell: int) -> int:
        return int(self.nodes[number * NODE_CELLS + cell])

    def _set(self, number: int, cell: int, value: int) -> bool:
        self.nodes[number * NODE_CELLS + cell] = value
        return True

    # --- arrays --------------------------------------------------------------------------------

    def _array(self, column: Column, length: int) -> pa.Array:
        number = self._program.columns.get(column.id)
        type = arrow_type(column)
        if number is None:
            return pa.nulls(length, type)
        node = self._program.nodes[number]
        validity = self._validity(number, node)
        if node.text is not None:
            raw = self._from_buffers(pa.binary(), length, number, validity, (OFFSETS, DATA))
            return texts(raw, node.text)
        if column.kind == STRUCT:
            children = [self._array(child, length) for child in column.children]
            return pa.Array.from_buffers(type, length, [validity], children=children)
        if column.kind in (LIST, MAP):
            return self._list(column, type, length, number, validity)
        cells = (OFFSETS, DATA) if node.offsets else (DATA,)
        return self._from_buffers(type, length, number, validity, cells)

    def _list(self, column: Column, type: pa.DataType, length: int, number: int, validity: pa.Buffer) -> pa.Array:
        items = self._cell(number, POSITION)
        children = [self._array(child, items) for child in column.children]
        if column.kind == MAP:
            entries = pa.struct([type.key_field, type.item_field])
            children = [pa.Array.from_buffers(entries, items, [None], children=children)]
        buffers = [validity, pa.py_buffer(self._arrays[number][OFFSETS])]
        return pa.Array.from_buffers(type, length, buffers, children=children)

    def _from_buffers(
        self, type: pa.DataType, length: int, number: int, validity: pa.Buffer, cells: tuple[int, ...]
    ) -> pa.Array:
        buffers = [pa.py_buffer(self._arrays[number][cell]) for cell in cells]
        return pa.Array.from_buffers(type, length, [validity, *buffers])

    def _validity(self, number: int, node: Node) -> pa.Buffer | None:
        if not node.always:
            return pa.py_buffer(self._arrays[number][VALID])
        return self._decoded if node.level == ROWS else None
