"""Prints a linked file as .proto text: the form in which it is stored. Types are written with their full names.

Texts that differ only in comments, spacing or how they name types print the same, and so does the equivalent
descriptor. `normalized` also sorts everything whose order has no meaning: imports, fields, values, ranges. The order of
messages is never changed: records name their message by its position.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]
from google.protobuf import text_encoding, text_format
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]

from lakestream.contract.registry.protobuf.fields import NUMBER_MAX, SCALAR_NAMES
from lakestream.contract.registry.protobuf.linking import options_in
from lakestream.model.registry_errors import InvalidSchema

_F = d.FieldDescriptorProto
_ENUM_MAX = 2**31 - 1


class Printer:
    def __init__(self, pool: Any, *, normalized: bool) -> None:
        self._pool = pool
        self._normalized = normalized
        self._proto3 = False

    def print(self, file: Any) -> str:
        self._proto3 = file.syntax == "proto3"
        blocks = [[f'syntax = "{file.syntax or "proto2"}";']]
        blocks += [[f"package {file.package};"]] if file.package else []
        blocks += [list(self._imports(file)), list(self._option_lines(file.options, ""))]
        blocks += [list(self._message(message, "")) for message in file.message_type]
        blocks += [list(self._enum(enum, "")) for enum in file.enum_type]
        blocks += [list(self._extensions(file.extension, ""))]
        blocks += [list(self._service(service)) for service in file.service]
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    # --- parts ---------------------------------------------------------------------------------

    def _imports(self, file: Any) -> Iterable[str]:
        public, weak = set(file.public_dependency), set(file.weak_dependency)
        lines = [
            f'import {"public " if n in public else "weak " if n in weak else ""}"{name}";'
            for n, name in enumerate(file.dependency)
        ]
        return sorted(lines) if self._normalized else lines

    def _message(self, message: Any, indent: str) -> Iterator[str]:
        inner = indent + "  "
        entries = {nested.name: nested for nested in message.nested_type if nested.options.map_entry}
        yield f"{indent}message {message.name} {{"
        yield from self._option_lines(message.options, inner)
        yield from self._reserved(message, inner, NUMBER_MAX, 1)
        yield from self._fields_and_messages(message, entries, inner)
        for start, end in self._ranges(message.extension_range, 1):
            yield f"{inner}extensions {_range(start, end, NUMBER_MAX)};"
        for enum in message.enum_type:
            yield from self._enum(enum, inner)
        yield from self._extensions(message.extension, inner)
        yield f"{indent}}}"

    def _fields_and_messages(self, message: Any, entries: dict[str, Any], indent: str) -> Iterator[str]:
        """A map's entry message stands among the nested messages: those before it must be written before the map."""
        ordered = self._normalized and (not entries or len(entries) == len(message.nested_type))
        fields = sorted(message.field, key=lambda field: field.number) if ordered else message.field
        oneofs: dict[int, list[Any]] = {}
        for field in fields:
            if _in_oneof(field):
                oneofs.setdefault(field.oneof_index, []).append(field)
        nested, places = iter(message.nested_type), {one.name: n for n, one in enumerate(message.nested_type)}
        passed = 0
        for field in fields:
            while (name := _entry_of(field, entries)) is not None and passed <= places[name]:
                passed += 1
                yield from self._unless_entry(next(nested), entries, indent)
            if not _in_oneof(field):
                yield self._field(field, entries, indent)
            elif members := oneofs.pop(field.oneof_index, None):
                yield from self._oneof(message.oneof_decl[field.oneof_index], members, entries, indent)
        for one in nested:
            yield from self._unless_entry(one, entries, indent)

    def _unless_entry(self, message: Any, entries: dict[str, Any], indent: str) -> Iterator[str]:
        if message.name not in entries:
            yield from self._message(message, indent)

    def _oneof(self, oneof: Any, members: list[Any], entries: dict[str, Any], indent: str) -> Iterator[str]:
        yield f"{indent}oneof {oneof.name} {{"
        yield from self._option_lines(oneof.options, indent + "  ")
        for field in members:
            yield self._field(field, entries, indent + "  ", label=False)
        yield f"{indent}}}"

    def _field(self, field: Any, entries: dict[str, Any], indent: str, *, label: bool = True) -> str:
        name = _entry_of(field, entries)
        if name is not None:
            entry = entries[name]
            head = f"map<{_type(entry.field[0])}, {_type(entry.field[1])}>"
        else:
            head = (self._label(field) if label else "") + _type(field)
        options = _listed((*self._own_options(field), *self._options(field.options)))
        return f"{indent}{head} {field.name} = {field.number}{options};"

    def _label(self, field: Any) -> str:
        if field.label == _F.LABEL_REPEATED:
            return "repeated "
        if field.label == _F.LABEL_REQUIRED:
            return "required "
        return "optional " if field.proto3_optional or not self._proto3 else ""

    def _own_options(self, field: Any) -> Iterator[str]:
        if field.HasField("default_value"):
            quoted = field.type in (_F.TYPE_STRING, _F.TYPE_BYTES)
            yield f"default = {_default(field) if quoted else field.default_value}"
        if field.HasField("json_name"):
            yield f"json_name = {_quoted(field.json_name.encode())}"

    def _enum(self, enum: Any, indent: str) -> Iterator[str]:
        inner = indent + "  "
        yield f"{indent}enum {enum.name} {{"
        yield from self._option_lines(enum.options, inner)
        yield from self._reserved(enum, inner, _ENUM_MAX, 0)
        # In proto2 the first value is the default, so its position has a meaning.
        values = sorted(enum.value, key=_zero_first) if self._normalized and self._proto3 else enum.value
        for value in values:
            yield f"{inner}{value.name} = {value.number}{_listed(self._options(value.options))};"
        yield f"{indent}}}"

    def _extensions(self, extensions: Any, indent: str) -> Iterator[str]:
        for field in extensions:
            yield f"{indent}extend {field.extendee} {{"
            yield self._field(field, {}, indent + "  ")
            yield f"{indent}}}"

    def _service(self, service: Any) -> Iterator[str]:
        yield f"service {service.name} {{"
        yield from self._option_lines(service.options, "  ")
        for method in service.method:
            asked = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
            given = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
            options = list(self._option_lines(method.options, "    "))
            end = ";" if not options else " {"
            yield f"  rpc {method.name} ({asked}) returns ({given}){end}"
            yield from [*options, "  }"] if options else []
        yield "}"

    def _reserved(self, owner: Any, indent: str, number_max: int, beyond: int) -> Iterator[str]:
        """`beyond`: how far the end of a range lies behind its last number."""
        for start, end in self._ranges(owner.reserved_range, beyond):
            yield f"{indent}reserved {_range(start, end, number_max)};"
        names = sorted(owner.reserved_name) if self._normalized else owner.reserved_name
        for name in names:
            yield f"{indent}reserved {_quoted(name.encode())};"

    def _ranges(self, ranges: Any, beyond: int) -> list[tuple[int, int]]:
        found = [(one.start, one.end - beyond) for one in ranges]
        return sorted(found) if self._normalized else found

    # --- options -------------------------------------------------------------------------------

    def _option_lines(self, options: Any, indent: str) -> Iterator[str]:
        for option in self._options(options):
            yield f"{indent}option {option};"

    def _options(self, options: Any) -> Iterator[str]:
        """In the order of their numbers."""
        if not options.ByteSize():
            return
        typed = options if not len(UnknownFieldSet(options)) else self._known(options)
        for field, value in typed.ListFields():
            if field.name == "map_entry" and field.containing_type.name == "MessageOptions":
                continue
            name = f"({field.full_name})" if field.is_extension else field.name
            for one in value if _is_repeated(value) else [value]:
                yield f"{name} = {_value(field, one)}"

    def _known(self, options: Any) -> Any:
        try:
            typed = options_in(self._pool, options)
        except KeyError:
            typed = options
        except DecodeError as error:
            raise InvalidSchema(f"a custom option does not fit its definition: {error}") from None
        if unknown := UnknownFieldSet(typed):
            numbers = ", ".join(str(field.field_number) for field in unknown)
            raise InvalidSchema(
                f"the schema has custom options (number {numbers}) that none of its imports defines: "
                "add the file that does to the references"
            )
        return typed


def _entry_of(field: Any, entries: dict[str, Any]) -> str | None:
    """The message of a map's entries, if the field is a map."""
    name = field.type_name.rpartition(".")[2]
    is_map = field.type == _F.TYPE_MESSAGE and field.label == _F.LABEL_REPEATED and name in entries
    return name if is_map else None


def _listed(options: Iterable[str]) -> str:
    joined = ", ".join(options)
    return f" [{joined}]" if joined else ""


def _in_oneof(field: Any) -> bool:
    """Whether the field is in a declared oneof, not in one that stands for a proto3 'optional'."""
    return bool(field.HasField("oneof_index")) and not field.proto3_optional


def _type(field: Any) -> str:
    return SCALAR_NAMES.get(field.type) or str(field.type_name)


def _zero_first(value: Any) -> tuple[bool, int]:
    return value.number != 0, value.number


def _range(start: int, end: int, number_max: int) -> str:
    if start == end:
        return str(start)
    return f"{start} to {'max' if end == number_max else end}"


def _is_repeated(value: Any) -> bool:
    return not isinstance(value, str | bytes) and hasattr(value, "__len__") and not hasattr(value, "DESCRIPTOR")


def _value(field: Any, value: Any) -> str:
    if field.message_type is not None:
        return f"{{ {text_format.MessageToString(value, as_one_line=True)} }}"
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | bytes):
        return _quoted(value.encode() if isinstance(value, str) else value)
    return repr(value)


def _default(field: Any) -> str:
    """The default as written. The descriptor has a bytes default in escaped form."""
    if field.type == _F.TYPE_BYTES:
        return f'"{field.default_value}"'
    return _quoted(field.default_value.encode())


def _quoted(value: bytes) -> str:
    return f'"{text_encoding.CEscape(value, as_utf8=False)}"'
