"""Logical types: the known ones, their underlying types, and whether data written with one reads right with another."""

import math
from typing import Any

from lakestream.contract.registry.avro.types import Logical

_CARRIERS = {
    "date": {"int"},
    "time-millis": {"int"},
    "time-micros": {"long"},
    "timestamp-millis": {"long"},
    "timestamp-micros": {"long"},
    "timestamp-nanos": {"long"},
    "local-timestamp-millis": {"long"},
    "local-timestamp-micros": {"long"},
    "local-timestamp-nanos": {"long"},
    "uuid": {"string", "fixed"},
    "duration": {"fixed"},
    "decimal": {"bytes", "fixed"},
}
_UUID_BYTES, _DURATION_BYTES = 16, 12


def logical_of(kind: str, schema: dict[str, Any], size: int | None) -> Logical | None:
    name = schema.get("logicalType")
    if not isinstance(name, str) or kind not in _CARRIERS.get(name, ()):
        return None
    match name:
        case "decimal":
            return _decimal(schema, size)
        case "uuid" if size not in (None, _UUID_BYTES):
            return None
        case "duration" if size != _DURATION_BYTES:
            return None
    return Logical(name=name)


def _decimal(schema: dict[str, Any], size: int | None) -> Logical | None:
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    if not isinstance(precision, int) or not isinstance(scale, int) or not 0 <= scale <= precision or precision < 1:
        return None
    if size is not None and precision > math.floor(math.log10(2) * (8 * size - 1)):
        return None
    return Logical(name="decimal", precision=precision, scale=scale)


def meaning_changed(writer: Logical | None, reader: Logical | None) -> str | None:
    """Why the same bytes would change their meaning. Adding or removing a logical type changes no value."""
    if writer is None or reader is None or writer == reader:
        return None
    if writer.name != reader.name:
        return f"{writer.name} written is not {reader.name}: the numbers would be read in another unit or sense"
    if writer.scale != reader.scale:
        return (
            f"the scale of the decimal changed from {writer.scale} to {reader.scale}: every value would be read wrong"
        )
    if writer.precision > reader.precision:
        return f"the precision of the decimal went down from {writer.precision} to {reader.precision}"
    return None
