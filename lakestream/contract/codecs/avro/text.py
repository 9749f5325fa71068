"""Writes values of types that contain themselves as JSON text: Iceberg has no recursive types.

The kernels have proven that each value is whole and not too deep. This module works value by value, in Python, since
such schemas are rare. Bytes are written as in Avro's own JSON, one character for each byte.
"""

import json
import math
import struct
from typing import Any

import pyarrow as pa

from lakestream.contract.registry.avro.types import Array, AvroRecord, AvroType, Enum, Fixed, Map, Primitive, Union

CHARACTERS_MAX = 16 * 1024 * 1024
BATCH_CHARACTERS_MAX = 16 * CHARACTERS_MAX
"""Limits of one text, and of all texts of a batch. Each record repeats the names of its fields, which take no bytes in
Avro: a message may unfold to a million times its size. A longer text is null in the table; its bytes are kept, as for
every recursive value."""
_CHARACTERS_OF_A_VALUE = 8


class _TooLong(Exception):
    pass


def texts(values: pa.BinaryArray, type: AvroType) -> pa.StringArray:
    """The values as JSON; null where there is no value."""
    left = BATCH_CHARACTERS_MAX
    written = []
    for value in values.to_pylist():
        text = None if value is None else _text(value, type, min(left, CHARACTERS_MAX))
        left -= len(text or "")
        written.append(text)
    return pa.array(written, type=pa.string())


def _text(value: bytes, type: AvroType, characters_max: int) -> str | None:
    try:
        found = _Reading(value, characters_max).read(type)
    except _TooLong:
        return None
    return json.dumps(found, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _Reading:
    def __init__(self, data: bytes, characters_max: int) -> None:
        self._data = data
        self._at = 0
        self._characters_left = characters_max

    def read(self, type: AvroType) -> Any:
        self._characters_left -= _CHARACTERS_OF_A_VALUE
        if self._characters_left < 0:
            raise _TooLong
        match type:
            case AvroRecord():
                self._characters_left -= sum(len(field.name) for field in type.fields)
                return {field.name: self.read(field.type) for field in type.fields}
            case Union():
                return self.read(type.branches[self._number()])
            case Array():
                return [self.read(type.items) for block in iter(self._block, 0) for _ in range(block)]
            case Map():
                return {
                    self._bytes(self._number()).decode(errors="replace"): self.read(type.values)
                    for block in iter(self._block, 0)
                    for _ in range(block)
                }
            case Enum():
                symbol = self._number()
                return list(type.symbols)[symbol] if 0 <= symbol < len(type.symbols) else symbol
            case Fixed():
                return self._bytes(type.size).decode("latin-1")
        return self._primitive(type)

    def _primitive(self, type: Primitive) -> Any:
        match type.kind:
            case "null":
                return None
            case "boolean":
                return self._bytes(1) != b"\0"
            case "int" | "long":
                return self._number()
            case "float":
                return _finite(struct.unpack("<f", self._bytes(4))[0])
            case "double":
                return _finite(struct.unpack("<d", self._bytes(8))[0])
            case "bytes":
                return self._bytes(self._number()).decode("latin-1")
        return self._bytes(self._number()).decode(errors="replace")

    def _block(self) -> int:
        """Items in the next block. A negative count has the block's bytes behind it."""
        count = self._number()
        if count < 0:
            self._number()
        return abs(count)

    def _number(self) -> int:
        raw, shift = 0, 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            raw |= (byte & 0x7F) << shift
            shift += 7
            if byte < 128:
                return (raw >> 1) ^ -(raw & 1)

    def _bytes(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        self._at += size
        return found


def _finite(number: float) -> float | str:
    """The number, or a string for NaN and infinities, which JSON does not have."""
    return number if math.isfinite(number) else str(number)
