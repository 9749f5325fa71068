"""Cells to Arrow: makes an array of each place of a program, and finds the rows whose cells hold impossible values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf import json_format, message_factory  # type: ignore[import-untyped]
from google.protobuf.descriptor import FieldDescriptor as F  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lakestream.contract.codecs.protobuf.kernels.cells import Cells, Levels
from lakestream.contract.codecs.protobuf.kernels.gathering import gather
from lakestream.contract.codecs.protobuf.kernels.tables import EXPLICIT
from lakestream.contract.codecs.protobuf.places import Listed, Mapped, Moment, Place, ProtobufStruct, Scalar, Text

SECONDS_MIN, SECONDS_MAX = -62_135_596_800, 253_402_300_799
"""The range of a Timestamp: from the year 1 to the end of 9999."""
NANOS_MAX = 999_999_999
MICROS_PER_SECOND = 1_000_000
NANOS_PER_MICRO = 1_000
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")

Mask = NDArray[np.bool_]


@dataclass(slots=True, kw_only=True)
class Reading:
    """One batch of rows with filled cells."""

    source: NDArray[np.uint8]
    cells: Cells
    levels: Levels
    condemned: dict[int, str] = field(default_factory=dict)
    """Rows with a value that its column cannot hold, and the reason."""
    said_twice: set[int] = field(default_factory=set)
    """Rows with a map that has a key twice: the last one counts."""

    def columns(self, places: Sequence[Place | None], schema: pa.Schema, good: Mask) -> pa.RecordBatch:
        """`good` marks the rows that were read without a fault."""
        arrays = [self._array(place, kind, good, 0) for place, kind in zip(places, schema.types, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _array(self, place: Place | None, kind: pa.DataType, parent: Mask, level: int) -> pa.Array:
        """`parent` marks the entries that can have a value at all."""
        match place:
            case None:
                return pa.nulls(parent.size, kind)
            case Scalar():
                return self._scalar(place, kind, self._present(place, parent))
            case Moment():
                return self._moment(place, kind, self._present(place, parent), level)
            case Text():
                return self._text(place, kind, parent, level)
            case ProtobufStruct():
                return self._struct(place, kind, self._present(place, parent), level)
            case Listed():
                return self._list(place, kind, parent)
            case Mapped():
                return self._map(place, kind, parent)

    def _present(self, place: Scalar | Moment | ProtobufStruct, parent: Mask) -> Mask:
        if place.presence != EXPLICIT:
            return parent
        return parent & self._of(self.cells.valid, place.node, parent.size).view(np.bool_)

    def _of(self, cells: NDArray[Any], node: int, count: int) -> NDArray[Any]:
        base = int(self.cells.bases[node])
        return cells[base : base + count]

    # --- scalars -------------------------------------------------------------------------------

    def _scalar(self, place: Scalar, kind: pa.DataType, present: Mask) -> pa.Array:
        numbers = self._of(self.cells.numbers, place.node, present.size)
        if place.type in (F.TYPE_STRING, F.TYPE_BYTES):
            return self._gathered(numbers, self._of(self.cells.lengths, place.node, present.size), kind, present)
        if place.enum is not None:
            return _enum_names(numbers, place.enum, present)
        if place.type == F.TYPE_BOOL:
            return _fixed(np.packbits(numbers != 0, bitorder="little"), kind, present)
        if place.type in (F.TYPE_UINT64, F.TYPE_FIXED64):
            wide = np.zeros((present.size, 2), np.int64)
            wide[:, 0] = numbers
            return _fixed(wide, kind, present)
        if place.type == F.TYPE_FLOAT:
            numbers = numbers.astype(np.uint32).view(np.float32)
        elif place.type == F.TYPE_DOUBLE:
            numbers = numbers.view(np.float64)
        return _fixed(numbers.astype(kind.to_pandas_dtype(), copy=False), kind, present)

    def _gathered(
        self, positions: NDArray[np.int64], lengths: NDArray[np.int32], kind: pa.DataType, present: Mask
    ) -> pa.Array:
        offsets = np.empty(present.size + 1, np.int32)
        data = np.empty(int(lengths.sum()), np.uint8)
        if not gather(self.source, positions, lengths, offsets, data):
            raise AssertionError("texts lie outside of the values that they were read from")
        buffers = [_bitmap(present), pa.py_buffer(offsets), pa.py_buffer(data)]
        return pa.Array.from_buffers(kind, present.size, buffers)

    def _moment(self, place: Moment, kind: pa.DataType, present: Mask, level: int) -> pa.Array:
        seconds = self._of(self.cells.numbers, place.seconds, present.size)
        nanos = self._of(self.cells.numbers, place.nanos, present.size)
        inside = (seconds >= SECONDS_MIN) & (seconds <= SECONDS_MAX) & (nanos >= 0) & (nanos <= NANOS_MAX)
        for entry in np.flatnonzero(present & ~inside).tolist():
            self._condemn(level, entry, f"field '{place.path}': a time outside of the years 1 to 9999")
        micros = np.where(inside, seconds, 0) * MICROS_PER_SECOND + np.where(inside, nanos, 0) // NANOS_PER_MICRO
        return _fixed(micros, kind, present)

    def _text(self, place: Text, kind: pa.DataType, parent: Mask, level: int) -> pa.Array:
        """Converts one by one, by Protobuf's own library: recursive messages are rare, and never written from
        columns."""
        present = parent & self._of(self.cells.valid, place.node, parent.size).view(np.bool_)
        texts: list[str | None] = [None] * present.size
        for entry in np.flatnonzero(present).tolist():
            at = int(self.cells.numbers[self.cells.bases[place.node] + entry])
            data = self.source[at : at + int(self.cells.lengths[self.cells.bases[place.node] + entry])].tobytes()
            try:
                texts[entry] = _json_of(place.message, data)
            except DecodeError as error:
                self._condemn(level, entry, f"a {place.message.full_name} cannot be read: {error}")
        return pa.array(texts, kind)

    # --- nested --------------------------------------------------------------------------------

    def _struct(self, place: ProtobufStruct, kind: pa.DataType, present: Mask, level: int) -> pa.Array:
        types = [kind.field(index).type for index in range(kind.num_fields)]
        children = [self._array(child, type, present, level) for child, type in zip(place.children, types, strict=True)]
        return pa.Array.from_buffers(kind, present.size, [_bitmap(present)], children=children)

    def _list(self, place: Listed, kind: pa.DataType, parent: Mask) -> pa.Array:
        offsets = self._offsets(place.node, parent.size)
        elements = self._array(place.element, kind.value_type, _all(offsets[-1]), place.level)
        return pa.Array.from_buffers(kind, parent.size, [_bitmap(parent), pa.py_buffer(offsets)], children=[elements])

    def _map(self, place: Mapped, kind: pa.DataType, parent: Mask) -> pa.Array:
        offsets = self._offsets(place.node, parent.size)
        every = _all(offsets[-1])
        keys = self._array(place.key, kind.key_type, every, place.level)
        values = self._array(place.value, kind.item_type, every, place.level)
        self._find_repeated_keys(keys, offsets, place.level)
        entries = pa.StructArray.from_arrays([keys, values], fields=[kind.key_field, kind.item_field])
        return pa.Array.from_buffers(kind, parent.size, [_bitmap(parent), pa.py_buffer(offsets)], children=[entries])

    def _offsets(self, node: int, count: int) -> NDArray[np.int32]:
        offsets = np.zeros(count + 1, np.int32)
        np.cumsum(self._of(self.cells.numbers, node, count), out=offsets[1:])
        return offsets

    def _find_repeated_keys(self, keys: pa.Array, offsets: NDArray[np.int32], level: int) -> None:
        coded = keys.dictionary_encode()
        maps = np.repeat(np.arange(offsets.size - 1, dtype=np.int64), np.diff(offsets))
        codes = maps * max(len(coded.dictionary), 1) + coded.indices.to_numpy()
        order = np.argsort(codes, kind="stable")
        again = order[1:][np.diff(codes[order]) == 0]
        self.said_twice.update(self.levels.owners[self.levels.bases[level] + again].tolist())

    def _condemn(self, level: int, entry: int, reason: str) -> None:
        row = entry if level == 0 else int(self.levels.owners[self.levels.bases[level] + entry])
        self.condemned.setdefault(row, reason)


def _fixed(numbers: NDArray[Any], kind: pa.DataType, present: Mask) -> pa.Array:
    return pa.Array.from_buffers(kind, present.size, [_bitmap(present), pa.py_buffer(np.ascontiguousarray(numbers))])


def _bitmap(present: Mask) -> pa.Buffer | None:
    return None if present.all() else pa.py_buffer(np.packbits(present, bitorder="little"))


def _all(count: int) -> Mask:
    return np.ones(int(count), np.bool_)


def _enum_names(numbers: NDArray[np.int64], enum: Any, present: Mask) -> pa.Array:
    """The names of enum numbers. A number without a name is shown as a number."""
    coded = pa.array(numbers, mask=~present).dictionary_encode()
    known = enum.values_by_number
    names = [known[number].name if number in known else str(number) for number in coded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(coded.indices)


def _json_of(message: Any, data: bytes) -> str | None:
    """None if a message has no JSON: an Any of a type that is not in the schema, a Timestamp out of range. Raises
    DecodeError."""
    parsed = message_factory.GetMessageClass(message).FromString(data)
    try:
        text: str = json_format.MessageToJson(
            parsed, preserving_proto_field_name=True, indent=None, descriptor_pool=message.file.pool
        )
    except (ValueError, TypeError, json_format.Error):
        return None
    return None if _HALF_CHARACTER.search(text) else text
