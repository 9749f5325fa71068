"""Describe the structure of Kafka messages: read kio's dataclasses into our own small values.

    kio dataclass of one (API, version) -> Message(root=Struct(fields=(Field, ...)))

kio generates its classes from Kafka's own message definitions, one per version. Lakestream uses kio for the schema
alone; the codec is ours (compile_encode, compile_decode). Types are those of the wire: error codes and times are plain
integers, a uuid is 16 bytes.
"""

from dataclasses import MISSING, dataclass, is_dataclass
from dataclasses import Field as DataclassField
from dataclasses import fields as dataclass_fields
from datetime import timedelta
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from kio.index import load_entity_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.static.constants import EntityType

from lakestream.protocol.kafka.wire.errors import UnsupportedRequest

NO_UUID = bytes(16)
NO_TIMESTAMP = -1

WIRE_TYPES = {
    "error_code": "int16",
    "timedelta_i32": "int32",
    "timedelta_i64": "int64",
    "datetime_i64": "int64",
}
"""kio's richer types, and the wire type of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    name: str
    type: "str | Struct"
    """A primitive by its Kafka name (int8 ... float64, bool, string, bytes, records, uuid), or a struct."""
    array: bool
    nullable: bool
    tag: int | None
    default: Any
    """The field's value if none is given. None for a struct: a struct of defaults, unless nullable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    name: str
    fields: tuple[Field, ...]

    def plain(self) -> list[Field]:
        return [field for field in self.fields if field.tag is None]

    def tagged(self) -> list[Field]:
        return sorted((field for field in self.fields if field.tag is not None), key=lambda field: field.tag or 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    name: str
    version: int
    flexible: bool
    header_version: int
    root: Struct


def api_keys() -> list[int]:
    """Keys of all APIs that kio describes."""
    return sorted(api_key_map)


def api_name(api_key: int) -> str:
    """The API's name in snake_case: `list_offsets`."""
    return str(api_key_map[api_key])


def versions(api_key: int) -> list[int]:
    """Every version of an API that kio describes, ascending."""
    if api_key not in api_key_map:
        raise UnsupportedRequest(f"API key {api_key} is not known; ask ApiVersions which are served")
    return sorted(schema_name_map[api_key_map[api_key]])


def request(api_key: int, version: int) -> Message:
    return _message(_kio_class(api_key, version, EntityType.request))


def response(api_key: int, version: int) -> Message:
    return _message(_kio_class(api_key, version, EntityType.response))


def _kio_class(api_key: int, version: int, kind: EntityType) -> Any:
    if version not in versions(api_key):
        raise UnsupportedRequest(f"API key {api_key} has no version {version}; ask ApiVersions for its range")
    return load_entity_schema(api_key_map[api_key], version, kind)  # type: ignore[arg-type]


def _message(cls: Any) -> Message:
    return Message(
        name=cls.__name__,
        version=int(cls.__version__),
        flexible=cls.__flexible__,
        header_version=int(cls.__header_schema__.__version__),
        root=_struct(cls, {}),
    )


def _struct(cls: Any, known: dict[Any, Struct]) -> Struct:
    if cls not in known:
        known[cls] = Struct(name=cls.__name__, fields=tuple(_field(each, known) for each in dataclass_fields(cls)))
    return known[cls]


def _field(field: "DataclassField[Any]", known: dict[Any, Struct]) -> Field:
    optional, inner = _without_none(field.type)
    array = get_origin(inner) is tuple
    if array:
        _, inner = _without_none(get_args(inner)[0])
    tag = field.metadata.get("tag")
    kio_type = field.metadata.get("kafka_type")
    wire_type = _struct(inner, known) if is_dataclass(inner) else WIRE_TYPES.get(str(kio_type), str(kio_type))
    return Field(
        name=field.name,
        type=wire_type,
        array=array,
        nullable=optional and (array or _has_null(wire_type)),
        tag=None if tag is None else int(tag),
        default=_default(field, wire_type, array=array, optional=optional),
    )


def _without_none(kind: Any) -> tuple[bool, Any]:
    """(whether it may be None, the type apart from None)"""
    if get_origin(kind) not in (UnionType, Union):
        return False, kind
    (inner,) = (each for each in get_args(kind) if each is not NoneType)
    return True, inner


def _has_null(wire_type: str | Struct) -> bool:
    # kio uses None for the zero uuid and the timestamp -1 as well: these have no null on the wire.
    return isinstance(wire_type, Struct) or wire_type in ("string", "bytes", "records")


def _default(field: "DataclassField[Any]", wire_type: str | Struct, *, array: bool, optional: bool) -> Any:
    stated = None if field.default is MISSING else field.default
    if array:
        return None if stated is None and field.default is not MISSING else ()
    if isinstance(wire_type, Struct):
        return None
    if stated is not None:
        return _as_on_the_wire(stated)
    match wire_type:
        case "string":
            return None if optional else ""
        case "bytes" | "records":
            return None if optional else b""
        case "uuid":
            return NO_UUID
        case "bool":
            return False
        case "float64":
            return 0.0
    return NO_TIMESTAMP if optional else 0


def _as_on_the_wire(value: Any) -> Any:
    match value:
        case timedelta():
            return value // timedelta(milliseconds=1)
        case Enum():
            return value.value
        case bool():
            return value
        case int():
            return int(value)
    return value
