"""Checks whether a default, as JSON, fits its type.

A union's default must fit its first branch: older readers look no further.
"""

from typing import Any

from lakestream.contract.registry.avro.types import (
    NO_DEFAULT,
    Array,
    AvroRecord,
    AvroType,
    Enum,
    Fixed,
    Map,
    Primitive,
    Union,
    shown,
)

_RANGES = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_LATIN_1_MAX = 255


def misfit(type: AvroType, value: Any) -> str | None:
    """The reason why the value does not fit, or None."""
    match type:
        case Union():
            return _union_misfit(type, value)
        case Primitive():
            return None if _fits_primitive(type.kind, value) else _not(type, value)
        case Enum():
            return None if isinstance(value, str) and value in type.symbols else _not(type, value)
        case Fixed():
            return None if _is_bytes(value) and len(value) == type.size else _not(type, value)
        case Array():
            return _first_misfit(type, value, list, lambda: [(type.items, one) for one in value])
        case Map():
            return _first_misfit(type, value, dict, lambda: [(type.values, one) for one in value.values()])
        case AvroRecord():
            return _record_misfit(type, value)


def _union_misfit(type: Union, value: Any) -> str | None:
    first, *others = type.branches
    if (reason := misfit(first, value)) is None:
        return None
    if any(misfit(other, value) is None for other in others):
        return (
            f"{value!r:.40} must fit the first branch of the union, {shown(first)}: put the branch that it fits first"
        )
    return reason


def _first_misfit(type: AvroType, value: Any, wanted: type, inner: Any) -> str | None:
    if not isinstance(value, wanted):
        return _not(type, value)
    return next((reason for one in inner() if (reason := misfit(*one)) is not None), None)


def _record_misfit(type: AvroRecord, value: Any) -> str | None:
    if not isinstance(value, dict):
        return _not(type, value)
    for field in type.fields:
        if field.name in value:
            if (reason := misfit(field.type, value[field.name])) is not None:
                return f"its field '{field.name}': {reason}"
        elif field.default is NO_DEFAULT:
            return f"its field '{field.name}' is missing and has no default"
    return None


def _fits_primitive(kind: str, value: Any) -> bool:
    match kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            return isinstance(value, int) and not isinstance(value, bool) and value in _RANGES[kind]
        case "float" | "double":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "bytes":
            return _is_bytes(value)
    return isinstance(value, str)


def _is_bytes(value: Any) -> bool:
    """Bytes are written as a string of characters up to U+00FF."""
    return isinstance(value, str) and all(ord(character) <= _LATIN_1_MAX for character in value)


def _not(type: AvroType, value: Any) -> str:
    return f"{value!r:.40} is no {shown(type)}"
