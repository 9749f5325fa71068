"""Iceberg's bounds: the least and the greatest value of a column, in binary form, shortened where they are long.

    int 4 bytes, long and timestamptz 8 bytes (micros), little-endian; binary as it is

A shortened lower bound is a prefix. A shortened upper bound must not fall below what it stands for, so its last byte is
raised by one; bytes that cannot be raised are dropped, and where none is left there is no upper bound.

    https://iceberg.apache.org/spec/#appendix-d-single-value-serialization
"""

import struct

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.storage.tablefile.columns import BY_NAME

BOUND_BYTES_MAX = 16
"""What Iceberg's own writers keep (`write.metadata.metrics.default = truncate(16)`)."""

_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")

Number = int
Bound = Number | bytes


class Bounds:
    """Gathers the bounds of one column over the pieces that are written."""

    __slots__ = ("greatest", "least", "nulls")

    def __init__(self) -> None:
        self.least: Bound | None = None
        self.greatest: Bound | None = None
        self.nulls = 0

    def widen(self, array: pa.Array) -> None:
        self.nulls += array.null_count
        ends = pc.min_max(array)
        least, greatest = _value(ends["min"]), _value(ends["max"])
        if least is None or greatest is None:
            return
        if self.least is None or least < self.least:  # type: ignore[operator]  # of one column: all numbers or all bytes
            self.least = least
        if self.greatest is None or greatest > self.greatest:  # type: ignore[operator]
            self.greatest = greatest

    def lower(self, column: str) -> bytes | None:
        if isinstance(self.least, bytes):
            return self.least[:BOUND_BYTES_MAX]
        return None if self.least is None else _packed(column, self.least)

    def upper(self, column: str) -> bytes | None:
        if isinstance(self.greatest, bytes):
            return shortened_up(self.greatest)
        return None if self.greatest is None else _packed(column, self.greatest)


def shortened_up(value: bytes) -> bytes | None:
    """The least short value that is not below `value`, or None where there is none."""
    if len(value) <= BOUND_BYTES_MAX:
        return value
    raisable = value[:BOUND_BYTES_MAX].rstrip(b"\xff")
    return raisable[:-1] + bytes([raisable[-1] + 1]) if raisable else None


def _packed(column: str, number: Number) -> bytes:
    return (_INT if BY_NAME[column].iceberg == "int" else _LONG).pack(number)


def _value(scalar: pa.Scalar) -> Bound | None:
    if not scalar.is_valid:
        return None
    value: Bound = scalar.value if pa.types.is_timestamp(scalar.type) else scalar.as_py()
    return value
