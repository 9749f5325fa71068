"""Iceberg's bounds: the least and the greatest value of a column, in binary form, truncated if they are long.

    boolean 1 byte; int and date 4 bytes, long, time and timestamps 8 bytes, float 4 and double 8, little-endian;
    text in UTF-8; a decimal's digits in two's complement, big-endian, as few bytes as they need; bytes as they are

A truncated lower bound is a prefix. A truncated upper bound must not fall below the value it stands for, so its last
byte (of text: its last character) is raised by one. A byte that cannot be raised is dropped; if nothing is left, there
is no upper bound. Nested columns have no bounds.

Parquet's writer finds minimum and maximum of every row group for its own statistics. Bounds are taken from there, and
computed here only where Parquet does not keep them.

    https://iceberg.apache.org/spec/#appendix-d-single-value-serialization
"""

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakestream.storage.tablefile.write.ends import ends

BOUND_BYTES_MAX = 16
"""The length that Iceberg's own writers keep (`write.metadata.metrics.default = truncate(16)`): bytes, or characters of
text."""
TOLD_BYTES_MAX = 1_024
"""Arrow leaves values of more than 4,096 bytes out of its statistics. Columns with values above this bound, well below
Arrow's, are searched here."""
_CHARACTER_MAX = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class Bounds:
    """Gathers the bounds of one column: nulls and NaNs while it is written, minimum and maximum from Parquet's
    statistics."""

    __slots__ = ("_kind", "_nulls_only", "greatest", "least", "nans", "nulls")

    def __init__(self, kind: pa.DataType, *, nulls_only: bool = False) -> None:
        """`nulls_only`: count nulls and nothing else, for a column whose bounds no query uses."""
        self._kind = kind
        self._nulls_only = nulls_only
        self.least: Any = None
        self.greatest: Any = None
        self.nulls = 0
        self.nans: int | None = 0 if pa.types.is_floating(kind) else None
        """None if the column cannot have any."""

    def count(self, column: pa.ChunkedArray) -> None:
        """Count what statistics do not have: NaNs, and minimum and maximum of long texts."""
        self.nulls += column.null_count
        if self.nans is not None:
            self.nans += sum(_nans(array) for array in column.chunks)
        elif not self._nulls_only and (pa.types.is_binary(self._kind) or pa.types.is_string(self._kind)):
            for array in column.chunks:
                if _longest(array) > TOLD_BYTES_MAX and (found := ends(array)) is not None:
                    self._widen(*found)

    def take(self, statistics: pq.Statistics | None) -> None:
        """Take over Parquet's statistics of a row group. There are none if all of it is null, NaN or too long."""
        if statistics is not None and statistics.has_min_max and not self._nulls_only:
            self._widen(statistics.min_raw, statistics.max_raw)

    def _widen(self, least: Any, greatest: Any) -> None:
        """Widen the bounds by values as Parquet stores them: text as UTF-8, times as numbers, decimals without their
        point."""
        least, greatest = _as_stored(self._kind, least), _as_stored(self._kind, greatest)
        if self.least is None or least < self.least:
            self.least = least
        if self.greatest is None or greatest > self.greatest:
            self.greatest = greatest

    def lower(self) -> bytes | None:
        if self.least is None:
            return None
        if isinstance(self.least, str):
            return self.least[:BOUND_BYTES_MAX].encode()
        if pa.types.is_binary(self._kind):
            shortened: bytes = self.least[:BOUND_BYTES_MAX]
            return shortened
        return _packing(self._kind)(-0.0 if self.least == 0 and self.nans is not None else self.least)

    def upper(self) -> bytes | None:
        if self.greatest is None:
            return None
        if isinstance(self.greatest, str):
            return shortened_text_up(self.greatest)
        if pa.types.is_binary(self._kind):
            return shortened_up(self.greatest)
        return _packing(self._kind)(0.0 if self.greatest == 0 and self.nans is not None else self.greatest)


def shortened_up(value: bytes) -> bytes | None:
    """The least truncated value that is not below `value`, or None if there is none."""
    if len(value) <= BOUND_BYTES_MAX:
        return value
    raisable = value[:BOUND_BYTES_MAX].rstrip(b"\xff")
    return raisable[:-1] + bytes([raisable[-1] + 1]) if raisable else None


def shortened_text_up(value: str) -> bytes | None:
    if len(value) <= BOUND_BYTES_MAX:
        return value.encode()
    raisable = value[:BOUND_BYTES_MAX].rstrip(chr(_CHARACTER_MAX))
    if not raisable:
        return None
    last = ord(raisable[-1]) + 1
    return (raisable[:-1] + chr(_SURROGATES.stop if last in _SURROGATES else last)).encode()


def _packing(kind: pa.DataType) -> Callable[[Any], bytes]:
    if pa.types.is_boolean(kind):
        return lambda value: bytes([value])
    if pa.types.is_decimal(kind):
        return _shortest
    if pa.types.is_fixed_size_binary(kind):
        return bytes
    for is_kind, packed in _NUMBERS:
        if is_kind(kind):
            return packed.pack
    raise TypeError(f"no bounds are kept of {kind}")


_NUMBERS: tuple[tuple[Callable[[pa.DataType], bool], struct.Struct], ...] = (
    (pa.types.is_int32, _INT),
    (pa.types.is_date32, _INT),
    (pa.types.is_float32, _FLOAT),
    (pa.types.is_float64, _DOUBLE),
    (pa.types.is_int64, _LONG),
    (pa.types.is_temporal, _LONG),
)


def _shortest(number: int) -> bytes:
    return number.to_bytes((number + (number < 0)).bit_length() // 8 + 1, "big", signed=True)


def _as_stored(kind: pa.DataType, end: Any) -> Any:
    if pa.types.is_string(kind):
        return end.decode()
    if pa.types.is_decimal(kind) and isinstance(end, bytes):  # a decimal of more digits than 64 bits hold
        return int.from_bytes(end, "big", signed=True)
    return end


def _nans(array: pa.Array) -> int:
    """The number of NaNs. Values are inspected one by one only if the minimum is NaN, which is rare."""
    if not len(array) or (not array.null_count and not np.isnan(array.to_numpy().min())):
        return 0
    return pc.sum(pc.is_nan(array)).as_py() or 0


def _longest(array: pa.BinaryArray | pa.StringArray) -> int:
    """The length of the longest value in bytes."""
    if not len(array) or array.null_count == len(array):
        return 0
    starts = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
    return int(np.diff(starts).max())
