"""Columns as the kernels see them: addresses of buffers, made for a decode or taken from Arrow for an encode."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.json import kernels
from lakestream.contract.codecs.json.kernels import Fields
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, INT, LONG, STRING

Array: TypeAlias = NDArray[Any]

_KINDS = {
    BOOLEAN: kernels.BOOLEAN,
    INT: kernels.INT,
    LONG: kernels.LONG,
    DOUBLE: kernels.DOUBLE,
    STRING: kernels.STRING,
}
_VALUES = {kernels.INT: np.int32, kernels.LONG: np.int64, kernels.DOUBLE: np.float64}
_NUMBER_BYTES = 14
_QUOTES = 2
_TEXTS = (kernels.STRING, kernels.TEXT)


def kinds_of(columns: Sequence[Column]) -> list[int]:
    return [_kind(column) for column in columns]


class Outputs:
    """Buffers for the columns of so many rows."""

    def __init__(self, columns: Sequence[Column], rows: int) -> None:
        self._rows = rows
        self._kinds = kinds_of(columns)
        self._values = [_values(kind, rows) for kind in self._kinds]
        self._lengths = [np.zeros(rows if kind in _TEXTS else 0, np.int32) for kind in self._kinds]
        self._valid = [np.zeros(_bitmap_bytes(rows), np.uint8) for _ in self._kinds]
        self._table = _table(
            self._kinds,
            _addresses(self._values),
            _addresses(self._lengths),
            _addresses(self._valid),
            [0] * len(columns),
        )
        self.fields = _fields(self._table)

    def arrays(self, types: Sequence[pa.DataType]) -> list[pa.Array]:
        return [self._array(column, type) for column, type in enumerate(types)]

    def _array(self, column: int, type: pa.DataType) -> pa.Array:
        kind = self._kinds[column]
        if kind == kernels.NOTHING:
            return pa.nulls(self._rows, type)
        valid = pa.py_buffer(self._valid[column])
        values = self._values[column]
        if kind not in _TEXTS:
            return pa.Array.from_buffers(type, self._rows, [valid, pa.py_buffer(values)])
        lengths = self._lengths[column]
        offsets = np.zeros(self._rows + 1, np.int32)
        text = np.empty(int(lengths.sum(dtype=np.int64)), np.uint8)
        kernels.gather(values, lengths, offsets, text.ctypes.data)
        return pa.Array.from_buffers(type, self._rows, [valid, pa.py_buffer(offsets), pa.py_buffer(text)])


class Inputs:
    """Columns of a record batch. Keeps alive what the addresses lead to."""

    def __init__(self, columns: Sequence[Column], batch: pa.RecordBatch) -> None:
        self._batch = batch
        self._kinds = kinds_of(columns)
        self._spans = [_spans(kind, array) for kind, array in zip(self._kinds, batch.columns, strict=True)]
        values = [
            spans[0].ctypes.data if kind in _TEXTS else _values_address(kind, array)
            for kind, spans, array in zip(self._kinds, self._spans, batch.columns, strict=True)
        ]
        lengths = [spans[1].ctypes.data for spans in self._spans]
        valid = [_valid_address(array) for array in batch.columns]
        self._table = _table(self._kinds, values, lengths, valid, [array.offset for array in batch.columns])
        self.fields = _fields(self._table)

    def bytes_expected(self) -> int:
        """Of all values in JSON, if few characters need escapes and few numbers are long."""
        texts = sum(int(lengths.sum(dtype=np.int64)) + _QUOTES * len(lengths) for _, lengths in self._spans)
        numbers = sum(kind not in _TEXTS for kind in self._kinds)
        return texts + texts // 8 + numbers * _NUMBER_BYTES * int(self._batch.num_rows)


def _kind(column: Column) -> int:
    if holds_json_text(column):
        return kernels.TEXT
    return _KINDS.get(column.kind, kernels.NOTHING)


def _table(*rows: Sequence[int]) -> NDArray[np.int64]:
    """Kinds, values, lengths, validity and first bits, each with a place for every column."""
    return np.array(rows, np.int64)


def _fields(table: NDArray[np.int64]) -> Fields:
    return Fields(table.shape[1], *(row.ctypes.data for row in table))


def _values(kind: int, rows: int) -> Array:
    if kind == kernels.BOOLEAN:
        return np.zeros(_bitmap_bytes(rows), np.uint8)
    if kind == kernels.NOTHING:
        return np.zeros(0, np.uint8)
    return np.zeros(rows, _VALUES.get(kind, np.int64))


def _bitmap_bytes(rows: int) -> int:
    return (rows + 7) // 8


def _addresses(arrays: Sequence[Array]) -> list[int]:
    return [array.ctypes.data for array in arrays]


def _spans(kind: int, array: pa.Array) -> tuple[Array, Array]:
    """Where the texts of a column lie, and how long they are."""
    if kind not in _TEXTS:
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    _, offsets, text = array.buffers()
    if offsets is None or len(array) == 0:
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.int32)
    around = np.frombuffer(offsets, np.int32, len(array) + 1, array.offset * 4)
    base = text.address if text is not None else 0
    return around[:-1].astype(np.int64) + base, np.diff(around)


def _values_address(kind: int, array: pa.Array) -> int:
    buffer = array.buffers()[1] if kind != kernels.NOTHING else None
    if buffer is None:
        return 0
    skipped = 0 if kind == kernels.BOOLEAN else array.offset * np.dtype(_VALUES[kind]).itemsize
    return int(buffer.address + skipped)


def _valid_address(array: pa.Array) -> int:
    buffer = array.buffers()[0]
    return 0 if buffer is None else int(buffer.address)
