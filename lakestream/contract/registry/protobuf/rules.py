"""Rules of Protobuf's compiler that linking a descriptor does not check."""

from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

from lakestream.contract.registry.protobuf.fields import RESERVED_NUMBERS, Ranges
from lakestream.model.registry_errors import InvalidSchema

_MAP_KEYS_NOT = (
    d.FieldDescriptorProto.TYPE_DOUBLE,
    d.FieldDescriptorProto.TYPE_FLOAT,
    d.FieldDescriptorProto.TYPE_BYTES,
    d.FieldDescriptorProto.TYPE_MESSAGE,
    d.FieldDescriptorProto.TYPE_ENUM,
)


def must_follow_rules(file: Any) -> None:
    """Raises InvalidSchema."""
    if file.syntax not in ("", "proto2", "proto3"):
        raise InvalidSchema(f"the syntax '{file.syntax}' is not supported: use proto2 or proto3")
    for enum in file.enum_type:
        _enum(enum, file.syntax, enum.name)
    for message in file.message_type:
        _message(message, file.syntax, message.name)


def _message(message: Any, syntax: str, path: str) -> None:
    _numbers(message, path)
    for field in message.field:
        _field(field, syntax, f"field '{field.name}' of {path}")
    if message.options.map_entry and message.field[0].type in _MAP_KEYS_NOT:
        raise InvalidSchema(f"{path}: a map's key is a whole number, a bool or a string")
    if syntax == "proto3" and message.extension_range:
        raise InvalidSchema(f"{path}: proto3 has no extension ranges")
    for enum in message.enum_type:
        _enum(enum, syntax, f"{path}.{enum.name}")
    for inner in message.nested_type:
        _message(inner, syntax, f"{path}.{inner.name}")


def _numbers(message: Any, path: str) -> None:
    seen: dict[int, str] = {}
    ranges, names = Ranges((one.start, one.end) for one in message.reserved_range), set(message.reserved_name)
    for field in message.field:
        if field.number in seen:
            raise InvalidSchema(
                f"{path}: '{seen[field.number]}' and '{field.name}' have the same number {field.number}"
            )
        seen[field.number] = field.name
        if field.name in names or field.number in ranges:
            raise InvalidSchema(f"{path}: field '{field.name}' uses a name or number that is reserved")
        if field.number in RESERVED_NUMBERS:
            raise InvalidSchema(
                f"{path}: field '{field.name}' uses a number from 19000 to 19999, which are Protobuf's own"
            )


def _field(field: Any, syntax: str, path: str) -> None:
    if field.type == d.FieldDescriptorProto.TYPE_GROUP:
        raise InvalidSchema(f"{path}: groups are not supported: use a nested message")
    if syntax != "proto3":
        return
    if field.label == d.FieldDescriptorProto.LABEL_REQUIRED:
        raise InvalidSchema(f"{path}: proto3 has no required fields")
    if field.HasField("default_value"):
        raise InvalidSchema(f"{path}: proto3 has no defaults of one's own")


def _enum(enum: Any, syntax: str, path: str) -> None:
    if not enum.value:
        raise InvalidSchema(f"enum {path} has no values")
    if syntax == "proto3" and enum.value[0].number != 0:
        raise InvalidSchema(f"enum {path}: in proto3 the first value must be 0")
    numbers = [value.number for value in enum.value]
    if len(set(numbers)) != len(numbers) and not enum.options.allow_alias:
        raise InvalidSchema(f"enum {path}: two values have the same number: set allow_alias, or give them others")
    ranges, names = Ranges((one.start, one.end + 1) for one in enum.reserved_range), set(enum.reserved_name)
    for value in enum.value:
        if value.name in names or value.number in ranges:
            raise InvalidSchema(f"enum {path}: '{value.name}' uses a name or number that is reserved")
