"""Edits a Protobuf schema as ALTER TABLE changed the columns: the next version that is registered.

    added     an optional field with the next number             dropped      its number and name are reserved
    renamed   the new name, under the same number                widened      int32 to int64, float to double

Comments and the order of columns mean nothing in Protobuf. Everything else in the schema stays. A message that is
defined in another file is not edited.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_protobuf import message_of
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.to_protobuf import TIMESTAMP_FILE, check_protobuf_name, next_number, protobuf_schema
from lakestream.contract.registry.protobuf.format import ProtobufFormat, ProtoSchema
from lakestream.contract.registry.protobuf.printing import Printer
from lakestream.contract.topic.altering.avro_schema import gone_from_schema

_F = d.FieldDescriptorProto
_WIDER = {
    _F.TYPE_INT32: _F.TYPE_INT64,
    _F.TYPE_SINT32: _F.TYPE_SINT64,
    _F.TYPE_SFIXED32: _F.TYPE_SFIXED64,
    _F.TYPE_FLOAT: _F.TYPE_DOUBLE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AlteredProtobuf:
    text: str
    columns: tuple[Column, ...]
    """The altered columns, all with the numbers of their fields."""


def altered_protobuf(
    schema: ProtoSchema, message: str, before: Sequence[Column], after: Sequence[Column]
) -> AlteredProtobuf:
    """`message`: the full name; '' for the file's first. Columns of `after` without keys are new. Blocking: it parses.
    Raises CannotFollow, InvalidSchema."""
    file = d.FileDescriptorProto()
    file.CopyFrom(schema.proto.file)
    if file.syntax != "proto3":
        raise CannotFollow(
            "the schema of the topic's values is not proto3, and ALTER TABLE edits no other: register its next version"
        )
    editing = _Editing(file)
    path = editing.path_of(message_of(schema, message).full_name)
    columns = editing.message(path, before, after)
    return AlteredProtobuf(text=Printer(schema.pool, normalized=False).print(file), columns=columns)


class _Editing:
    def __init__(self, file: Any) -> None:
        self._file = file

    def path_of(self, full_name: str) -> tuple[str, ...]:
        """The names that lead from the file to a message of it. Raises CannotFollow."""
        package = f"{self._file.package}." if self._file.package else ""
        path = tuple(full_name.removeprefix(package).split("."))
        if not full_name.startswith(package) or self._message_at(path) is None:
            raise CannotFollow(
                f"the message {full_name} is defined in another file than the topic's values: register the next "
                "version of that file"
            )
        return path

    def message(self, path: tuple[str, ...], before: Sequence[Column], after: Sequence[Column]) -> tuple[Column, ...]:
        """Edit the fields of a message in place. Returns `after` with numbers."""
        message = self._message_at(path)
        fields = {str(field.number): field for field in message.field}
        known = {column.id: column for column in before if not column.is_dropped}
        edited: list[Column] = []
        for column in after:
            field = fields.get(column.keys[0]) if column.keys else None
            if field is not None and column.id in known:
                edited.append(self._edited(message, field, known[column.id], column))
            elif column.id in known and column.children != known[column.id].children:
                raise gone_from_schema(column)
            else:
                edited.append(column)
        staying = {column.keys[0] for column in after if column.keys}
        for column in known.values():
            if column.keys[0] in fields and column.keys[0] not in staying:
                _remove(message, fields[column.keys[0]])
        return self._with_added(path, message, edited)

    def _message_at(self, path: Sequence[str]) -> Any:
        inside, found = self._file.message_type, None
        for name in path:
            found = next((one for one in inside if one.name == name), None)
            if found is None:
                return None
            inside = found.nested_type
        return found

    def _with_added(self, path: tuple[str, ...], message: Any, columns: Sequence[Column]) -> tuple[Column, ...]:
        used = [field.number for field in message.field] + [one.end - 1 for one in message.reserved_range]
        added: list[Column] = []
        found: list[Column] = []
        for column in columns:
            if not column.keys:
                used.append(next_number(used))
                column = _numbered(replace(column, keys=(str(used[-1]),)))
                added.append(column)
            found.append(column)
        if added:
            self._add(path, message, added)
        return tuple(found)

    def _add(self, path: tuple[str, ...], message: Any, columns: Sequence[Column]) -> None:
        for column in columns:
            if column.name in message.reserved_name:
                raise CannotFollow(
                    f"'{column.name}' is reserved in the schema, since a field of this name was dropped: use another "
                    "name"
                )
        text = protobuf_schema(path[-1], columns, package=self._file.package, around=path[:-1])
        made = ProtobufFormat().parse(text, ()).proto.file
        inside = made.message_type
        for name in path:
            new = next(one for one in inside if one.name == name)
            inside = new.nested_type
        there = {one.name for one in message.nested_type}
        if taken := sorted(there & {one.name for one in new.nested_type}):
            raise CannotFollow(f"the schema has a message '{taken[0]}' already: use another name for the column")
        first = len(message.oneof_decl)
        message.oneof_decl.extend(new.oneof_decl)
        for field in new.field:
            message.field.add().CopyFrom(field)
            if field.HasField("oneof_index"):
                message.field[-1].oneof_index = first + field.oneof_index
        message.nested_type.extend(new.nested_type)
        if TIMESTAMP_FILE not in self._file.dependency:
            self._file.dependency.append(TIMESTAMP_FILE)

    def _edited(self, message: Any, field: Any, before: Column, after: Column) -> Column:
        if after.name != before.name:
            check_protobuf_name(after.name)
            if any(other.name == after.name for other in message.field) or after.name in message.reserved_name:
                raise CannotFollow(f"the schema has, or reserves, a field '{after.name}' already: use another name")
            field.name = after.name
            field.ClearField("json_name")
        if (before.kind, before.children) == (after.kind, after.children):
            return after
        if after.kind == LIST:
            return replace(after, children=(self._part(field, before.children[0], after.children[0]),))
        if after.kind == MAP:
            entry = self._message_at(self.path_of(field.type_name[1:]))
            value = self._part(entry.field[1], before.children[1], after.children[1])
            return replace(after, children=(after.children[0], value))
        return self._part(field, before, after)

    def _part(self, field: Any, before: Column, after: Column) -> Column:
        """The type of a field, or of its elements."""
        if (before.kind, before.children) == (after.kind, after.children):
            return after
        if after.kind == STRUCT:
            return replace(
                after, children=self.message(self.path_of(field.type_name[1:]), before.children, after.children)
            )
        if field.type not in _WIDER:
            raise CannotFollow(
                f"the field of '{after.name}' has a type that ALTER TABLE does not widen: register the schema's next "
                "version, and the table follows"
            )
        field.type = _WIDER[field.type]
        return after


def _numbered(column: Column) -> Column:
    """The parts of a new column with the numbers that `protobuf_schema` expects."""
    if column.kind == STRUCT:
        children = [replace(child, keys=(str(at),)) for at, child in enumerate(column.children, start=1)]
        return replace(column, children=tuple(map(_numbered, children)))
    return replace(column, children=tuple(map(_numbered, column.children)))


def _remove(message: Any, field: Any) -> None:
    """The messages that the field's values were stay, since removing one breaks readers; the entries of a map go."""
    name = field.type_name.rpartition(".")[2]
    entries = [one for one in message.nested_type if one.name == name and one.options.map_entry]
    message.reserved_range.add(start=field.number, end=field.number + 1)
    message.reserved_name.append(field.name)
    message.field.remove(field)
    for entry in entries:
        message.nested_type.remove(entry)
