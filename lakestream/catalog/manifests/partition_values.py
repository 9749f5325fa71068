"""Partition values: the type of each partition field, and the encoding of a value in a summary.

    days(ts) -> date -> 4 bytes, little-endian          truncate(name) -> string -> UTF-8

Manifests hold partition values as Avro values. Manifest lists hold the least and the greatest of them as bytes
(Iceberg's single-value serialisation), by which readers skip whole manifests.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any

from lakestream.catalog.spec.schema.ids import fields_by_id
from lakestream.catalog.spec.values import Json, Metadata
from lakestream.model.table_errors import InvalidTableChange

UNKNOWN = "unknown"
"""The type of a field whose values are all null."""
_RESULT_TYPES = {"bucket": "int", "year": "int", "month": "int", "day": "date", "hour": "int"}
"""Transforms whose result has another type than their source."""
_PLAIN = {"boolean", "int", "long", "float", "double", "string", "binary", UNKNOWN}
_AVRO_LONGS = {"time": "time-micros", "timestamp": "timestamp-micros", "timestamptz": "timestamp-micros"}
_LONGS = {"long", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"}
_PACKED = {"boolean": struct.Struct("<?"), "float": struct.Struct("<f"), "double": struct.Struct("<d")}
_INT, _LONG = struct.Struct("<i"), struct.Struct("<q")


def partition_types(metadata: Metadata, spec: Json) -> list[str]:
    """The type of each field of the spec's partition tuple, in order."""
    sources: dict[int, Json] = {}
    for schema in metadata["schemas"]:  # the current schema may no longer have a source
        sources.update(fields_by_id(schema))
    return [_result_type(field, sources) for field in spec["fields"]]


def avro_type(type: str) -> Any:
    """The Avro type for values of an Iceberg type."""
    if type in _PLAIN:
        return {"binary": "bytes", UNKNOWN: "null"}.get(type, type)
    if type == "date":
        return {"type": "int", "logicalType": "date"}
    if type in _AVRO_LONGS:
        adjusted = {} if type == "time" else {"adjust-to-utc": type == "timestamptz"}
        return {"type": "long", "logicalType": _AVRO_LONGS[type], **adjusted}
    if type in _LONGS:
        return {"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": type == "timestamptz_ns"}
    if type == "uuid":
        return {"type": "fixed", "name": "uuid_fixed", "size": 16, "logicalType": "uuid"}
    if type.startswith("fixed["):
        length = int(type[6:-1])
        return {"type": "fixed", "name": f"fixed_{length}", "size": length}
    if type.startswith("decimal("):
        precision, scale = (int(part) for part in type[8:-1].split(","))
        size = _decimal_bytes(precision)
        named = {"type": "fixed", "name": f"decimal_{precision}_{scale}", "size": size}
        return {**named, "logicalType": "decimal", "precision": precision, "scale": scale}
    raise InvalidTableChange(f"a partition value cannot have the type {type}")


def value_bytes(type: str, value: Any) -> bytes:
    """Iceberg's single-value serialisation of a partition value from a manifest."""
    if type in ("int", "date"):
        return _INT.pack(value)
    if type in _LONGS:
        return _LONG.pack(value)
    if type in _PACKED:
        return _PACKED[type].pack(value)
    if isinstance(value, str):
        return value.encode()
    return bytes(value)


def stored_value(type: str, value: Any) -> Any:
    """A partition value as manifests hold it. Decimals come as whole numbers, without their point."""
    if value is None or not type.startswith("decimal("):
        return value
    precision = int(type[8:-1].split(",")[0])
    return int(value).to_bytes(_decimal_bytes(precision), "big", signed=True)


def summarised(types: Sequence[str], tuples: Sequence[Sequence[Any]]) -> list[Json]:
    """The manifest list's summary of each partition field over a manifest's files."""
    return [_summary(type, [values[index] for values in tuples]) for index, type in enumerate(types)]


def merged_summaries(types: Sequence[str], summaries: Sequence[Sequence[Json]]) -> list[Json]:
    """The summaries of several manifests of one spec, merged."""
    return [_merged(type, [fields[index] for fields in summaries]) for index, type in enumerate(types)]


def _summary(type: str, values: list[Any]) -> Json:
    known = [value for value in values if value is not None]
    numbers = [value for value in known if value == value]  # NaN does not equal itself
    return {
        "contains_null": len(known) < len(values),
        "contains_nan": len(numbers) < len(known),
        "lower_bound": value_bytes(type, min(numbers)) if numbers else None,
        "upper_bound": value_bytes(type, max(numbers)) if numbers else None,
    }


def _merged(type: str, summaries: list[Json]) -> Json:
    return {
        "contains_null": any(summary["contains_null"] for summary in summaries),
        "contains_nan": any(summary.get("contains_nan") for summary in summaries),
        "lower_bound": _extreme(type, [summary["lower_bound"] for summary in summaries], min),
        "upper_bound": _extreme(type, [summary["upper_bound"] for summary in summaries], max),
    }


def _extreme(type: str, bounds: list[bytes | None], choose: Callable[..., bytes]) -> bytes | None:
    known = [bound for bound in bounds if bound is not None and type != UNKNOWN]
    return choose(known, key=lambda bound: _comparable(type, bound)) if known else None


def _comparable(type: str, bound: bytes) -> Any:
    """Bounds from before the column became wider are shorter."""
    if type in ("int", "date") or (type in _LONGS and len(bound) == _INT.size):
        return _INT.unpack(bound)
    if type in _LONGS:
        return _LONG.unpack(bound)
    if type == "double" and len(bound) == _PACKED["float"].size:
        return _PACKED["float"].unpack(bound)
    if type in _PACKED:
        return _PACKED[type].unpack(bound)
    if type.startswith("decimal"):
        return int.from_bytes(bound, "big", signed=True)
    return bound


def _result_type(field: Json, sources: dict[int, Json]) -> str:
    transform = field["transform"].partition("[")[0]
    if transform in _RESULT_TYPES:
        return _RESULT_TYPES[transform]
    id = (field.get("source-ids") or [field.get("source-id")])[0]
    if id not in sources:
        return UNKNOWN  # dropped, and every schema that had it was removed: nobody can query it any more
    type = sources[id].get("type")
    if not isinstance(type, str):
        raise InvalidTableChange(f"partition field '{field.get('name')}' has no source column {id} of a plain type")
    return type


def _decimal_bytes(precision: int) -> int:
    """The fewest bytes that hold every value with so many digits."""
    return int((10**precision - 1).bit_length() // 8 + 1)
