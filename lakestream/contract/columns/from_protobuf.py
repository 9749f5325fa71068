"""Columns from Protobuf: a message's fields, identified by their numbers, so that names may change.

    int32 int | uint32, int64 long | uint64 decimal(20,0) | enum string | Timestamp timestamptz | StringValue... string
    message struct | repeated list | map map | a oneof's members: columns of which at most one is not null

A message that contains itself would be an endless struct: inside itself it is JSON text. So are google.protobuf.Struct
and its kin, which are JSON. A message without fields has no contents and gets no column.
"""

from typing import Any

from google.protobuf.descriptor import FieldDescriptor as F  # type: ignore[import-untyped]

from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    STRING,
    STRUCT,
    TIMESTAMPTZ,
    decimal,
)
from lakestream.contract.columns.layout import NODES_MAX, CannotFollow
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.protobuf.format import ProtoSchema
from lakestream.model.registry_errors import InvalidSchema

DEPTH_MAX = 32
"""Levels of messages that become structs; a deeper message is JSON text."""
UNSIGNED_LONG = decimal(20, 0)

SCALAR_KINDS = {
    **dict.fromkeys((F.TYPE_INT32, F.TYPE_SINT32, F.TYPE_SFIXED32), INT),
    **dict.fromkeys((F.TYPE_UINT32, F.TYPE_FIXED32, F.TYPE_INT64, F.TYPE_SINT64, F.TYPE_SFIXED64), LONG),
    **dict.fromkeys((F.TYPE_UINT64, F.TYPE_FIXED64), UNSIGNED_LONG),
    **dict.fromkeys((F.TYPE_STRING, F.TYPE_ENUM), STRING),
    F.TYPE_FLOAT: FLOAT,
    F.TYPE_DOUBLE: DOUBLE,
    F.TYPE_BOOL: BOOLEAN,
    F.TYPE_BYTES: BINARY,
}
TIMESTAMP_MESSAGE = "google.protobuf.Timestamp"
WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_JSON = frozenset(f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue"))


def wanted_columns(schema: ProtoSchema, message: str = "") -> tuple[Wanted, ...]:
    """The columns of the message with this full name, or of the file's first. Raises CannotFollow, InvalidSchema."""
    return _Wanting().fields(message_of(schema, message), ())


def message_of(schema: ProtoSchema, name: str = "") -> Any:
    """The message's descriptor. Raises InvalidSchema."""
    file = schema.proto.file
    if not name:
        if not file.message_type:
            raise InvalidSchema("the schema defines no message, so there are no columns: add one")
        name = f"{file.package}.{file.message_type[0].name}".lstrip(".")
    try:
        return schema.pool.FindMessageTypeByName(name)
    except KeyError:
        raise InvalidSchema(f"the schema defines no message '{name}': name one with its package") from None


def is_map(field: Any) -> bool:
    return field.message_type is not None and field.is_repeated and field.message_type.GetOptions().map_entry


class _Wanting:
    """Unfolds one schema and counts its columns: messages that share parts may unfold without bound."""

    def __init__(self) -> None:
        self._nodes = 0

    def fields(self, message: Any, around: tuple[str, ...]) -> tuple[Wanted, ...]:
        path = (*around, message.full_name)
        columns = (self._field(field, path) for field in sorted(message.fields, key=_number))
        return tuple(column for column in columns if column is not None)

    def _field(self, field: Any, path: tuple[str, ...]) -> Wanted | None:
        key, name = str(field.number), field.name
        if is_map(field):
            return self._map(field, path)
        if field.is_repeated:
            element = self._one(field, "element", None, path)
            return element and self._wanted(key=key, name=name, kind=LIST, children=(element,))
        return self._one(field, key, name, path)

    def _map(self, field: Any, path: tuple[str, ...]) -> Wanted | None:
        key, value = sorted(field.message_type.fields, key=_number)
        children = self._one(key, "key", None, path), self._one(value, "value", None, path)
        if children[0] is None or children[1] is None:
            return None
        return self._wanted(key=str(field.number), name=field.name, kind=MAP, children=(children[0], children[1]))

    def _one(self, field: Any, key: str, name: str | None, path: tuple[str, ...]) -> Wanted | None:
        """The column of the field, or of one element of it."""
        message = field.message_type
        if message is None:
            return self._wanted(key=key, name=name, kind=SCALAR_KINDS[field.type])
        if message.full_name == TIMESTAMP_MESSAGE:
            return self._wanted(key=key, name=name, kind=TIMESTAMPTZ)
        if message.full_name in WRAPPERS:
            return self._wanted(key=key, name=name, kind=SCALAR_KINDS[message.fields[0].type])
        if message.full_name in _JSON or message.full_name in path or len(path) >= DEPTH_MAX:
            return self._wanted(key=key, name=name, kind=STRING)
        children = self.fields(message, path)
        return self._wanted(key=key, name=name, kind=STRUCT, children=children) if children else None

    def _wanted(self, *, key: str, name: str | None, kind: str, children: tuple[Wanted, ...] = ()) -> Wanted:
        self._nodes += 1
        if self._nodes > NODES_MAX:
            raise CannotFollow(f"the table would have more than {NODES_MAX:,} columns and parts: use fewer fields")
        return Wanted(key=key, name=name, kind=kind, children=children)


def _number(field: Any) -> int:
    return int(field.number)
