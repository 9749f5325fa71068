"""Iceberg's bounds: the least and the greatest value of a column, in binary form, shortened where they are long.

    boolean 1 byte; int and date 4 bytes, long, time and timestamps 8 bytes, float 4 and double 8, little-endian;
    text in UTF-8; a decimal's digits in two's complement, big-endian, as few bytes as they need; bytes as they are

A shortened lower bound is a prefix. A shortened upper bound must not fall below what it stands for, so its last byte
(of text: its last character) is raised by one; what cannot be raised is dropped, and where nothing is left there is no
upper bound. Columns with parts have no bounds.

    https://iceberg.apache.org/spec/#appendix-d-single-value-serialization
"""

import struct
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.storage.tablefile.ends import ends

BOUND_BYTES_MAX = 16
"""What Iceberg's own writers keep (`write.metadata.metrics.default = truncate(16)`): bytes, or characters of text."""
_CHARACTER_MAX = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)

_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")
_FLOAT, _DOUBLE = struct.Struct("<f"), struct.Struct("<d")


class Bounds:
    """Gathers the bounds of one column over the pieces that are written."""

    __slots__ = ("_kind", "_nulls_only", "greatest", "least", "nans", "nulls")

    def __init__(self, kind: pa.DataType, *, nulls_only: bool = False) -> None:
        """`nulls_only`: of a column whose bounds nobody would look for, nulls are counted and that is all."""
        self._kind = kind
        self._nulls_only = nulls_only
        self.least: Any = None
        self.greatest: Any = None
        self.nulls = 0
        self.nans: int | None = 0 if pa.types.is_floating(kind) else None
        """None where the column cannot have any."""

    def widen(self, column: pa.ChunkedArray) -> None:
        self.nulls += column.null_count
        for array in () if self._nulls_only else column.chunks:
            self._widen(array)

    def _widen(self, array: pa.Array) -> None:
        if self.nans is not None:
            found = pc.sum(pc.is_nan(array)).as_py() or 0
            self.nans += found
            array = array.filter(pc.invert(pc.is_nan(array))) if found else array
        least, greatest = _ends(array)
        if least is None or greatest is None:
            return
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
    """The least short value that is not below `value`, or None where there is none."""
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
        return lambda value: _unscaled(value, kind.scale)
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


def _unscaled(value: Decimal, scale: int) -> bytes:
    digits = int(value.scaleb(scale))
    return digits.to_bytes((digits + (digits < 0)).bit_length() // 8 + 1, "big", signed=True)


def _ends(array: pa.Array) -> tuple[Any, Any]:
    """(least, greatest), both None where everything is null."""
    if pa.types.is_binary(array.type):
        return ends(array) or (None, None)
    if pa.types.is_string(array.type):
        text = ends(array)
        return (None, None) if text is None else (text[0].decode(), text[1].decode())
    found = pc.min_max(array)
    return _value(found["min"]), _value(found["max"])


def _value(scalar: pa.Scalar) -> Any:
    if not scalar.is_valid:
        return None
    return scalar.value if pa.types.is_temporal(scalar.type) else scalar.as_py()
