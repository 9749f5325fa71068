"""The same random message twice: as kio's dataclass, which kio writes, and as an object of ours."""

import io
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from random import Random
from types import NoneType
from typing import Any, get_args, get_origin
from uuid import UUID

from kio.index import load_entity_schema
from kio.schema.errors import ErrorCode
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_writer
from kio.static.constants import EntityType

INTEGERS = {"int8": (8, True), "int16": (16, True), "int32": (32, True), "int64": (64, True), "uint16": (16, False)}
LETTERS = "abcxyz09-_.é☃\U0001f40c"
BYTE_LENGTHS = (0, 1, 126, 127, 128, 300, 17_000)


def every_message() -> Iterator[tuple[int, int, str]]:
    """(API key, version, "request" or "response")"""
    for key, name in api_key_map.items():
        for version in schema_name_map[name]:
            yield key, version, "request"
            yield key, version, "response"


def kio_class(key: int, version: int, kind: str) -> Any:
    return load_entity_schema(api_key_map[key], version, EntityType[kind])


def kio_bytes(entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def random_entity(cls: Any, chance: Random, depth: int = 0) -> Any:
    return cls(**{each.name: _random_field(each, chance, depth) for each in fields(cls)})


def _random_field(field: Any, chance: Random, depth: int) -> Any:
    optional, kind = _without_none(field.type)
    if "tag" in field.metadata and field.default is not MISSING and chance.random() < 0.5:
        return field.default
    if optional and "tag" not in field.metadata and chance.random() < 0.2:
        return None
    if get_origin(kind) is not tuple:
        return _random_value(field, kind, chance, depth)
    _, element = _without_none(get_args(kind)[0])
    count = chance.choice((0, 1, 2, 3)) if depth < 2 else chance.choice((0, 1))
    if depth == 0 and not is_dataclass(element) and chance.random() < 0.1:
        count = 130  # a length of two varint bytes
    return tuple(_random_value(field, element, chance, depth) for _ in range(count))


def _random_value(field: Any, kind: Any, chance: Random, depth: int) -> Any:
    if is_dataclass(kind):
        return random_entity(kind, chance, depth + 1)
    match field.metadata["kafka_type"]:
        case "string":
            return "".join(chance.choices(LETTERS, k=chance.choice((0, 1, 5, 60, 126, 200))))
        case "bytes" | "records":
            return chance.randbytes(chance.choice(BYTE_LENGTHS[: 7 if depth < 2 else 5]))
        case "uuid":
            return UUID(bytes=chance.randbytes(16))
        case "bool":
            return chance.random() < 0.5
        case "float64":
            return chance.uniform(-1e300, 1e300)
        case "error_code":
            return chance.choice(list(ErrorCode))
        case "timedelta_i32":
            return timedelta(milliseconds=chance.randint(-(2**31), 2**31 - 1))
        case "timedelta_i64":
            return timedelta(milliseconds=chance.randint(0, 2**40))
        case "datetime_i64":
            return datetime.fromtimestamp(chance.randint(0, 2**31), UTC)
        case number:
            bits, signed = INTEGERS[number]
            return chance.choice((0, 1, _extreme(bits, signed), chance.getrandbits(bits - 1)))


def _extreme(bits: int, signed: bool) -> int:
    return -(2 ** (bits - 1)) if signed else 2**bits - 1


def ours(entity: Any, types: Any) -> Any:
    """The same value as an object of ours."""
    values = {each.name: _our_value(getattr(entity, each.name), each, types) for each in fields(entity)}
    return getattr(types, type(entity).__name__)(**values)


def _our_value(value: Any, field: Any, types: Any) -> Any:
    if isinstance(value, tuple):
        return [_our_value(each, field, types) for each in value]
    if is_dataclass(value):
        return ours(value, types)
    kafka_type = field.metadata.get("kafka_type")
    match value:
        case None if kafka_type == "uuid" and get_origin(_without_none(field.type)[1]) is not tuple:
            return bytes(16)
        case None if kafka_type == "datetime_i64":
            return -1
        case UUID():
            return value.bytes
        case Enum():
            return value.value
        case timedelta():
            return value // timedelta(milliseconds=1)
        case datetime():
            return round(value.timestamp() * 1000)
    return value


def _without_none(kind: Any) -> tuple[bool, Any]:
    if get_origin(kind) is tuple or NoneType not in get_args(kind):
        return False, kind
    return True, next(each for each in get_args(kind) if each is not NoneType)
