"""The buffers that a decode writes its columns into, and their conversion to Arrow arrays."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.json.fields import NUMBERS, TEXTS, Array, FieldTable, bitmap_bytes
from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.kinds import ELEMENT
from lakestream.contract.codecs.json.kernels.views import Fields
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.codecs.json.texts import gathered


class JsonBuffers(NamedTuple):
    values: Array
    lengths: Array
    valid: Array


class ElementPool:
    """The elements of all lists, in the order in which they stand in the rows."""

    def __init__(self, size: int) -> None:
        self._values = np.zeros(size, np.int64)
        self._booleans = np.zeros(bitmap_bytes(size), np.uint8)
        self._lengths = np.zeros(size, np.int32)
        self._valid = np.zeros(bitmap_bytes(size), np.uint8)

    def buffers(self, kind: int) -> JsonBuffers:
        """The buffers for elements of this kind, shared by all lists."""
        return JsonBuffers(self._booleans if kind == kinds.BOOLEAN else self._values, self._lengths, self._valid)

    def taken(self, kind: int, places: NDArray[np.int64]) -> JsonBuffers:
        """The elements at these places, as a column of their own."""
        valid = _bits_at(self._valid, places)
        if kind == kinds.BOOLEAN:
            return JsonBuffers(_bits_at(self._booleans, places), self._lengths[:0], valid)
        if kind in TEXTS:
            return JsonBuffers(self._values[places], self._lengths[places], valid)
        return JsonBuffers(self._values[places].view(NUMBERS[kind]), self._lengths[:0], valid)


class Outputs:
    """Buffers for the columns of `rows` rows, which have `source_bytes` bytes together."""

    def __init__(self, slots: Sequence[Slot], rows: int, source_bytes: int) -> None:
        self._slots = slots
        self._rows = rows
        has_lists = any(slot.kind == kinds.LIST for slot in slots)
        self._pool = ElementPool(
            source_bytes // 2 + 1 if has_lists else 0
        )  # an element and its comma take at least two bytes
        self._buffers = [
            self._pool.buffers(slot.kind) if slot.parent == ELEMENT else _made(slot.kind, rows) for slot in slots
        ]
        self._table = FieldTable(
            slots,
            values=[buffers.values.ctypes.data for buffers in self._buffers],
            lengths=[buffers.lengths.ctypes.data for buffers in self._buffers],
            valid=[buffers.valid.ctypes.data for buffers in self._buffers],
            first_bits=[0] * len(slots),
        )

    @property
    def fields(self) -> Fields:
        return self._table.fields

    def arrays(self, types: Sequence[pa.DataType]) -> list[pa.Array]:
        """The outermost columns."""
        tops = [number for number, slot in enumerate(self._slots) if slot.parent == kinds.TOP]
        return [self._array(number, type) for number, type in zip(tops, types, strict=True)]

    def _array(self, number: int, type: pa.DataType) -> pa.Array:
        kind = self._slots[number].kind
        if kind == kinds.NOTHING:
            return pa.nulls(self._rows, type)
        if kind == kinds.STRUCT:
            return self._struct(number, type)
        if kind == kinds.LIST:
            return self._list(number, type)
        return _flat(kind, type, self._buffers[number], self._rows)

    def _struct(self, number: int, type: pa.DataType) -> pa.Array:
        inside = [at for at, slot in enumerate(self._slots) if slot.parent == number]
        children = [self._array(at, field.type) for at, field in zip(inside, type, strict=True)]
        valid = pa.py_buffer(self._buffers[number].valid)
        return pa.Array.from_buffers(type, self._rows, [valid], children=children)

    def _list(self, number: int, type: pa.DataType) -> pa.Array:
        starts, counts, valid = self._buffers[number]
        offsets = np.zeros(self._rows + 1, np.int64)
        np.cumsum(counts, out=offsets[1:])
        places = np.repeat(starts - offsets[:-1], counts) + np.arange(offsets[-1], dtype=np.int64)
        element = self._slots[number + 1].kind
        elements = _flat(element, type.value_type, self._pool.taken(element, places), len(places))
        buffers = [pa.py_buffer(valid), pa.py_buffer(offsets.astype(np.int32))]
        return pa.Array.from_buffers(type, self._rows, buffers, children=[elements])


def _flat(kind: int, type: pa.DataType, buffers: JsonBuffers, rows: int) -> pa.Array:
    values, lengths, bits = buffers
    valid = pa.py_buffer(bits)
    if kind not in TEXTS:
        return pa.Array.from_buffers(type, rows, [valid, pa.py_buffer(values)])
    return gathered(type, values, lengths, valid)


def _made(kind: int, rows: int) -> JsonBuffers:
    has_lengths = kind in TEXTS or kind == kinds.LIST
    return JsonBuffers(
        _values(kind, rows), np.zeros(rows if has_lengths else 0, np.int32), np.zeros(bitmap_bytes(rows), np.uint8)
    )


def _values(kind: int, rows: int) -> Array:
    if kind == kinds.BOOLEAN:
        return np.zeros(bitmap_bytes(rows), np.uint8)
    if kind in (kinds.NOTHING, kinds.STRUCT):
        return np.zeros(0, np.uint8)
    return np.zeros(rows, NUMBERS.get(kind, np.int64))


def _bits_at(bitmap: Array, places: NDArray[np.int64]) -> Array:
    return np.packbits((bitmap[places >> 3] >> (places & 7).astype(np.uint8)) & 1, bitorder="little")
