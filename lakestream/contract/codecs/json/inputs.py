"""Prepares Arrow arrays for encoding: it copies nothing except the positions of texts."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from lakestream.contract.codecs.json.fields import NUMBERS, TEXTS, Array, FieldTable
from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.kinds import ELEMENT, TOP
from lakestream.contract.codecs.json.kernels.views import Fields
from lakestream.contract.codecs.json.slots import Slot

_NUMBER_BYTES = 14
_QUOTES = 2


class Inputs:
    """Columns of a record batch. Keeps the arrays alive that the addresses point to."""

    def __init__(self, slots: Sequence[Slot], batch: pa.RecordBatch, texts: Mapping[int, pa.BinaryArray]) -> None:
        """`texts`: elements of lists, by the slot of the list, which replace those in the batch."""
        self._batch = batch
        self._kinds = [slot.kind for slot in slots]
        self._arrays = list(_arrays(slots, batch, texts))
        pairs = list(zip(self._kinds, self._arrays, strict=True))
        self._spans = [_spans(kind, array) for kind, array in pairs]
        self._table = FieldTable(
            slots,
            values=[
                _values_address(kind, array) if kind in NUMBERS or kind == kinds.BOOLEAN else spans[0].ctypes.data
                for (kind, array), spans in zip(pairs, self._spans, strict=True)
            ],
            lengths=[spans[1].ctypes.data for spans in self._spans],
            valid=[_valid_address(array) for array in self._arrays],
            first_bits=[array.offset for array in self._arrays],
        )

    @property
    def fields(self) -> Fields:
        return self._table.fields

    def bytes_expected(self) -> int:
        """The size of all values in JSON, assuming that few characters need escapes and few numbers are long."""
        texts = numbers = 0
        for kind, array, (_, lengths) in zip(self._kinds, self._arrays, self._spans, strict=True):
            if kind in TEXTS:
                texts += int(lengths.sum(dtype=np.int64)) + _QUOTES * len(lengths)
            else:
                numbers += len(array)
        return texts + texts // 8 + numbers * _NUMBER_BYTES


def array_at(slots: Sequence[Slot], number: int, batch: pa.RecordBatch) -> pa.Array:
    """The array of one slot, which must not be inside a list."""
    parent = slots[number].parent
    place = sum(slot.parent == parent for slot in slots[:number])
    return batch.column(place) if parent == TOP else array_at(slots, parent, batch).field(place)


def elements_of(array: pa.ListArray) -> pa.Array:
    """The elements of the array's own rows only."""
    if len(array) == 0:
        return array.values[:0]
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return array.values.slice(first, last - first)


def _arrays(slots: Sequence[Slot], batch: pa.RecordBatch, texts: Mapping[int, pa.BinaryArray]) -> Iterator[pa.Array]:
    """The array of each slot."""
    found: list[pa.Array] = []
    tops = iter(batch.columns)
    inside: dict[int, Iterator[pa.Array]] = {}
    for slot in slots:
        if slot.parent == TOP:
            array = next(tops)
        elif slot.parent == ELEMENT:  # a list comes right before its element
            array = texts.get(len(found) - 1)
            array = elements_of(found[-1]) if array is None else array
        else:
            array = next(inside[slot.parent])
        if slot.kind == kinds.STRUCT:
            inside[len(found)] = iter([array.field(at) for at in range(array.type.num_fields)])
        found.append(array)
        yield array


def _spans(kind: int, array: pa.Array) -> tuple[Array, Array]:
    """Start and length of each text of a column, or of the elements of each list."""
    if kind not in TEXTS and kind != kinds.LIST:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    buffers = array.buffers()
    if buffers[1] is None or len(array) == 0:
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.int32)
    around = np.frombuffer(buffers[1], np.int32, len(array) + 1, array.offset * 4)
    base = buffers[2].address if kind in TEXTS and buffers[2] is not None else 0
    if kind == kinds.LIST:
        base = -int(around[0])  # `elements_of` starts there
    return around[:-1].astype(np.int64) + base, np.diff(around)


def _values_address(kind: int, array: pa.Array) -> int:
    buffer = array.buffers()[1]
    if buffer is None:
        return 0
    skipped = 0 if kind == kinds.BOOLEAN else array.offset * np.dtype(NUMBERS[kind]).itemsize
    return int(buffer.address + skipped)


def _valid_address(array: pa.Array) -> int:
    buffer = array.buffers()[0]
    return 0 if buffer is None else int(buffer.address)
