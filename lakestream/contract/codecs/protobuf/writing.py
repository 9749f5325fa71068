"""Arrow to cells: takes columns apart into the nodes from which the kernels write messages."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor as F  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lakestream.contract.codecs.protobuf.kernels.cells import Cells
from lakestream.contract.codecs.protobuf.kernels.tables import NONE, WRITTEN_BYTES_MAX
from lakestream.contract.codecs.protobuf.places import Listed, Mapped, Moment, Place, ProtobufStruct, Scalar, Text
from lakestream.contract.codecs.protobuf.reading import MICROS_PER_SECOND, NANOS_PER_MICRO

_VALID, _DATA = 0, 1


@dataclass(slots=True, kw_only=True)
class Writing:
    """One batch of rows. The arrays must live as long as the cells, which hold addresses of their texts."""

    node_levels: Sequence[int]
    level_sizes: list[int]
    numbers: dict[int, NDArray[Any]] = field(default_factory=dict)
    lengths: dict[int, NDArray[Any]] = field(default_factory=dict)
    valid: dict[int, NDArray[Any]] = field(default_factory=dict)
    text_bytes: int = 0

    def take(self, places: Sequence[Place | None], columns: pa.RecordBatch) -> None:
        for place, column in zip(places, columns.columns, strict=True):
            self._take(place, column)

    def bytes_max(self, prefix_bytes: int) -> int:
        """An upper bound of the size of the messages."""
        entries = sum(self.level_sizes) + sum(self.level_sizes[level] for level in self.node_levels)
        return self.text_bytes + WRITTEN_BYTES_MAX * (entries + 4) + prefix_bytes * self.level_sizes[0]

    def cells(self) -> Cells:
        sizes = np.array([self.level_sizes[level] for level in self.node_levels], np.int64)
        bases = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        total = int(bases[-1])
        return Cells(
            bases=bases,
            numbers=_arena(self.numbers, bases, total, np.int64),
            lengths=_arena(self.lengths, bases, total, np.int32),
            valid=_arena(self.valid, bases, total, np.uint8),
        )

    def _take(self, place: Place | None, array: pa.Array) -> None:
        match place:
            case Scalar():
                self._scalar(place, array)
            case Moment():
                self._moment(place, array)
            case ProtobufStruct():
                self._present(place.node, array)
                for index, child in enumerate(place.children):
                    self._take(child, array.field(index))
            case Listed():
                self._take(place.element, self._elements(place, array, array.values))
            case Mapped():
                self._take(place.key, self._elements(place, array, array.keys))
                self._take(place.value, self._elements(place, array, array.items))
            case Text() | None:
                pass

    def _present(self, node: int, array: pa.Array) -> None:
        if node != NONE:
            self.valid[node] = _mask(array)

    def _elements(self, place: Listed | Mapped, array: pa.Array, values: pa.Array) -> pa.Array:
        """The elements in this slice. The list's node gets the start and the number of each row's elements."""
        offsets = _offsets(array)
        self.numbers[place.node] = offsets[:-1] - offsets[0]
        self.lengths[place.node] = np.where(_mask(array), np.diff(offsets), 0)
        count = int(offsets[-1]) - int(offsets[0])
        self.level_sizes[place.level] = count
        return values.slice(int(offsets[0]), count)

    def _moment(self, place: Moment, array: pa.Array) -> None:
        self._present(place.node, array)
        micros = _data(array, np.int64)
        seconds = micros // MICROS_PER_SECOND
        self.numbers[place.seconds] = seconds
        self.numbers[place.nanos] = (micros - seconds * MICROS_PER_SECOND) * NANOS_PER_MICRO

    def _scalar(self, place: Scalar, array: pa.Array) -> None:
        self.valid[place.node] = _mask(array)
        if place.type in (F.TYPE_STRING, F.TYPE_BYTES):
            self._bytes(place.node, array)
        elif place.enum is not None:
            self.numbers[place.node] = _enum_numbers(array, place.enum)
        elif place.type == F.TYPE_BOOL:
            self.numbers[place.node] = array.fill_null(False).to_numpy(zero_copy_only=False)
        elif place.type in (F.TYPE_UINT64, F.TYPE_FIXED64):
            self.numbers[place.node] = _data(array, np.int64, parts=2)[::2]
        elif place.type in (F.TYPE_FLOAT, F.TYPE_DOUBLE):
            self.numbers[place.node] = _bits(place, array)
        else:
            self.numbers[place.node] = _data(array, np.dtype(array.type.to_pandas_dtype()))

    def _bytes(self, node: int, array: pa.Array) -> None:
        offsets, data = _offsets(array), array.buffers()[2]
        self.numbers[node] = offsets[:-1].astype(np.int64) + (data.address if data is not None else 0)
        self.lengths[node] = np.where(_mask(array), np.diff(offsets), 0)
        self.text_bytes += int(offsets[-1]) - int(offsets[0])


def _arena(parts: dict[int, NDArray[Any]], bases: NDArray[np.int64], total: int, kind: Any) -> NDArray[Any]:
    """All nodes one behind the other. Nodes without values stay 0, and take no memory until they are read."""
    arena = np.zeros(total, kind)
    for node, values in parts.items():
        arena[bases[node] : bases[node + 1]] = values
    return arena


def _mask(array: pa.Array) -> NDArray[np.bool_]:
    if array.null_count == 0:
        return np.ones(len(array), np.bool_)
    mask: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return mask


def _data(array: pa.Array, kind: Any, parts: int = 1) -> NDArray[Any]:
    """The contents of the array's own buffer, with 0 for nulls, where the buffer may hold anything."""
    if len(array) == 0:
        return np.empty(0, kind)
    first, last = array.offset * parts, (array.offset + len(array)) * parts
    values: NDArray[Any] = np.frombuffer(array.buffers()[_DATA], kind)[first:last]
    return values if array.null_count == 0 else np.where(np.repeat(_mask(array), parts), values, 0)


def _offsets(array: pa.Array) -> NDArray[np.int32]:
    if len(array) == 0:
        return np.zeros(1, np.int32)
    return np.frombuffer(array.buffers()[_DATA], np.int32)[array.offset : array.offset + len(array) + 1]


def _bits(place: Scalar, array: pa.Array) -> NDArray[Any]:
    numbers = _data(array, np.dtype(array.type.to_pandas_dtype()))
    if place.type == F.TYPE_DOUBLE:
        return np.ascontiguousarray(numbers).view(np.int64)
    return np.ascontiguousarray(numbers.astype(np.float32)).view(np.uint32)


def _enum_numbers(array: pa.Array, enum: Any) -> NDArray[np.int64]:
    coded = array.dictionary_encode()
    known = enum.values_by_name
    numbers = [known[name].number if name in known else int(name) for name in coded.dictionary.to_pylist()]
    if not numbers:
        return np.zeros(len(array), np.int64)
    found = np.array(numbers, np.int64)[coded.indices.fill_null(0).to_numpy()]
    return np.where(_mask(array), found, 0)
