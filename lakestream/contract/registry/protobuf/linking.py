"""Links a file: resolves its names, sets its custom options, and checks Protobuf's rules.

A name is looked up in its own message, then in the one around it, and so on outwards, as Protobuf does it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]
from google.protobuf import message_factory

from lakestream.contract.registry.protobuf.fields import camel
from lakestream.contract.registry.protobuf.files import FilePool, ProtoFile
from lakestream.contract.registry.protobuf.options import CustomOption, set_option, text_of
from lakestream.contract.registry.protobuf.rules import must_follow_rules
from lakestream.model.registry_errors import InvalidSchema

Names = Mapping[str, Any]
"""The type behind each full name: a message's or an enum's TYPE_, None for an extension."""


def linked(file: Any, custom: Sequence[CustomOption], imports: tuple[ProtoFile, ...], pool: FilePool) -> ProtoFile:
    """Link the file and add it to the pool, with full names and all options. Raises InvalidSchema."""
    proto = ProtoFile(file, imports)
    names = _visible_names(proto)
    _resolve_types(file, names)
    must_follow_rules(file)
    pool.add(proto)
    for one in custom:
        _set_custom(one, names, pool.descriptors)
    return proto


def options_in(pool: Any, options: Any) -> Any:
    """The same options, with the custom ones resolved by name."""
    kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(options.DESCRIPTOR.full_name))
    return kind.FromString(options.SerializeToString())


def _visible_names(proto: ProtoFile) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for one in proto.visible():
        _add_names(one.file, one.file.package, names)
    return names


def _add_names(owner: Any, scope: str, names: dict[str, Any]) -> None:
    """Add the names that a file, or a message, defines."""
    messages = owner.message_type if isinstance(owner, d.FileDescriptorProto) else owner.nested_type
    for enum in owner.enum_type:
        names[_joined(scope, enum.name)] = d.FieldDescriptorProto.TYPE_ENUM
    for extension in owner.extension:
        names[_joined(scope, extension.name)] = None
    for message in messages:
        names[_joined(scope, message.name)] = d.FieldDescriptorProto.TYPE_MESSAGE
        _add_names(message, _joined(scope, message.name), names)


def _resolve_types(file: Any, names: Names) -> None:
    for extension in file.extension:
        _resolve_field(extension, file.package, names)
    for message in file.message_type:
        _resolve_message(message, _joined(file.package, message.name), names)
    for service in file.service:
        for method in service.method:
            scope = _joined(file.package, service.name)
            method.input_type = "." + _found(method.input_type, scope, names, "the message")
            method.output_type = "." + _found(method.output_type, scope, names, "the message")


def _resolve_message(message: Any, scope: str, names: Names) -> None:
    for field in (*message.field, *message.extension):
        _resolve_field(field, scope, names)
    for inner in message.nested_type:
        _resolve_message(inner, _joined(scope, inner.name), names)


def _resolve_field(field: Any, scope: str, names: Names) -> None:
    if field.HasField("extendee"):
        field.extendee = "." + _found(field.extendee, scope, names, "the message")
    if field.type_name:
        full = _found(field.type_name, scope, names, f"field '{field.name}' of {scope or 'the file'}: the type")
        if names[full] is None:
            raise InvalidSchema(f"field '{field.name}' of {scope}: '{full}' is no type")
        field.type = names[full]
        field.type_name = "." + full
    if field.json_name == camel(field.name):
        field.ClearField("json_name")


def _found(name: str, scope: str, names: Names, what: str) -> str:
    for candidate in _candidates(name, scope):
        if candidate in names:
            return candidate
    raise InvalidSchema(f"{what} '{name}' is not defined: define it, or import the file that does")


def _candidates(name: str, scope: str) -> Iterator[str]:
    if name.startswith("."):
        yield name[1:]
        return
    while scope:
        yield f"{scope}.{name}"
        scope = scope.rpartition(".")[0]
    yield name


def _set_custom(one: CustomOption, names: Names, pool: Any) -> None:
    shown = ".".join(one.option.names)
    resolved = tuple(
        f"[{_found(name[1:-1], one.scope, names, 'the option')}]" if name.startswith("(") else name
        for name in one.option.names
    )
    try:
        typed = options_in(pool, type(one.options)())
    except KeyError:
        raise InvalidSchema(f"the option '{shown}' needs the import of google/protobuf/descriptor.proto") from None
    set_option(typed, text_of(one.option, resolved), shown, pool)
    one.options.MergeFromString(typed.SerializeToString(deterministic=True))


def _joined(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name
