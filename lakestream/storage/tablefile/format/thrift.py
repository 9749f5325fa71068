"""Reads the part of Thrift's compact protocol that headers of Parquet pages use.

struct = (field id and type, value)... 0      numbers are zig-zag varints, texts have their length in front
"""

from typing import Any

_STOP, _TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY = range(9)
_STRUCT = 12
_NESTING_MAX = 4
"""A page's header has statistics inside one more struct."""
_DOUBLE_BYTES = 8


class BadThrift(ValueError):
    """The bytes are no struct, or one with fields that page headers do not have."""


def read_struct(data: memoryview, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
    """The fields of a struct by their ids, and where it ends. Raises BadThrift."""
    if depth > _NESTING_MAX:
        raise BadThrift("too many structs within each other")
    fields: dict[int, Any] = {}
    field = 0
    try:
        while data[at] != _STOP:
            step, kind = data[at] >> 4, data[at] & 0x0F
            at += 1
            if step:
                field += step
            else:
                field, at = _number(data, at)
            fields[field], at = _value(data, at, kind, depth)
    except IndexError as error:
        raise BadThrift("a struct ends beyond its bytes") from error
    return fields, at + 1


def _value(data: memoryview, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if kind in (_TRUE, _FALSE):
        return kind == _TRUE, at
    if kind == _BYTE:
        return data[at], at + 1
    if kind in (_I16, _I32, _I64):
        return _number(data, at)
    if kind == _DOUBLE:
        return bytes(data[at : at + _DOUBLE_BYTES]), at + _DOUBLE_BYTES
    if kind == _BINARY:
        length, at = read_varint(data, at)
        return bytes(data[at : at + length]), at + length
    if kind == _STRUCT:
        return read_struct(data, at, depth + 1)
    raise BadThrift(f"a field of type {kind}")


def _number(data: memoryview, at: int) -> tuple[int, int]:
    raw, at = read_varint(data, at)
    return (raw >> 1) ^ -(raw & 1), at


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """Raises BadThrift, IndexError."""
    value = shift = 0
    while data[at] & 0x80:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if shift > 63:
            raise BadThrift("a number that never ends")
    return value | data[at] << shift, at + 1
