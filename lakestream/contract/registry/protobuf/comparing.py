"""Decides whether records written with one Protobuf schema can be read with another: by field numbers, as on the wire.

https://protobuf.dev/programming-guides/proto3/#updating

Fields are matched by number, so names may change. Messages are matched by name. Changes that do not show on the wire
(int32 to int64, string to bytes) pass; those that would read wrong values, or none, do not.
"""

from typing import Any

from google.protobuf import descriptor_pb2 as d  # type: ignore[import-untyped]

from lakestream.contract.registry.comparing import Comparison, Differences, Incompatibility
from lakestream.contract.registry.protobuf.fields import SCALAR_NAMES, Ranges
from lakestream.contract.registry.protobuf.files import ProtoFile, messages_of

_F = d.FieldDescriptorProto
_WIRE = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool", "enum"), "a plain whole number"),
    **dict.fromkeys(("sint32", "sint64"), "a zigzag whole number"),
    **dict.fromkeys(("string", "bytes"), "text or bytes"),
    **dict.fromkeys(("fixed32", "sfixed32"), "four bytes"),
    **dict.fromkeys(("fixed64", "sfixed64"), "eight bytes"),
    "float": "a float",
    "double": "a double",
}
"""Types of one group can read each other's values."""


class ProtoComparison:
    def __init__(self, writer: ProtoFile, reader: ProtoFile, comparison: Comparison) -> None:
        self._comparison = comparison
        self._writer, self._reader = writer.file, reader.file
        self._written, self._read = messages_of(writer), messages_of(reader)

    def breaks(self) -> Differences:
        if self._writer.package != self._reader.package:
            why = f"the package changed from '{self._writer.package}' to '{self._reader.package}': keep it"
            return [Incompatibility("PACKAGE_CHANGED", "/package", why)]
        written = {message.name: message for message in self._writer.message_type}
        read = {message.name: message for message in self._reader.message_type}
        return self._messages(written, read, "") + self._extensions()

    def _messages(self, written: dict[str, Any], read: dict[str, Any], path: str) -> Differences:
        found = Differences()
        for name, message in written.items():
            if message.options.map_entry:
                continue
            if name in read:
                found += self._message(message, read[name], f"{path}/{name}")
            else:
                why = f"message '{name}' is gone, and records of it may have been written: keep it"
                found.append(Incompatibility("MESSAGE_REMOVED", f"{path}/{name}", why))
        return found

    def _message(self, writer: Any, reader: Any, path: str) -> Differences:
        return self._comparison.pair(writer, reader, lambda: self._message_breaks(writer, reader, path))

    def _message_breaks(self, writer: Any, reader: Any, path: str) -> Differences:
        written, read = _by_number(writer.field), _by_number(reader.field)
        nested = {one.name: one for one in writer.nested_type}, {one.name: one for one in reader.nested_type}
        return (
            self._fields(written, read, path)
            + _oneof_breaks(writer, reader, path)
            + self._messages(nested[0], nested[1], path)
        )

    def _fields(self, written: dict[int, Any], read: dict[int, Any], path: str) -> Differences:
        found = Differences()
        for number in sorted(written.keys() | read.keys()):
            place = f"{path}/{number}"
            if number in written and number in read:
                found += self._field(written[number], read[number], place)
            else:
                found += _alone(written.get(number), read.get(number), place)
        return found

    def _field(self, writer: Any, reader: Any, path: str) -> Differences:
        return _label_breaks(writer, reader, path) or self._type(writer, reader, path)

    def _type(self, writer: Any, reader: Any, path: str) -> Differences:
        kinds = self._kind(writer, self._written), self._kind(reader, self._read)
        if kinds[0] != kinds[1]:
            why = f"field '{reader.name}' was {kinds[0]} and is {kinds[1]}: add a new field instead"
            return [Incompatibility("FIELD_KIND_CHANGED", path, why)]
        if kinds[0] == "a message":
            return self._message_type(writer, reader, path)
        if kinds[0] == "a map":
            entries = self._written[writer.type_name[1:]], self._read[reader.type_name[1:]]
            return self._type(entries[0].field[0], entries[1].field[0], f"{path}/key") + self._type(
                entries[0].field[1], entries[1].field[1], f"{path}/value"
            )
        return _scalar_breaks(writer, reader, path)

    def _kind(self, field: Any, messages: dict[str, Any]) -> str:
        if field.type != _F.TYPE_MESSAGE:
            return "a scalar"
        return "a map" if messages[field.type_name[1:]].options.map_entry else "a message"

    def _message_type(self, writer: Any, reader: Any, path: str) -> Differences:
        if writer.type_name != reader.type_name:
            why = f"field '{reader.name}' was a {writer.type_name[1:]} and is a {reader.type_name[1:]}: add a new field"
            return [Incompatibility("FIELD_NAMED_TYPE_CHANGED", path, why)]
        name = writer.type_name[1:]
        return self._message(self._written[name], self._read[name], f"/{name}")

    def _extensions(self) -> Differences:
        """Compares extensions, which are fields that another file adds to a message."""
        found = Differences()
        written, read = _by_extendee(self._writer), _by_extendee(self._reader)
        for (extendee, number), field in written.items():
            other = read.get((extendee, number))
            place = f"{extendee.replace('.', '/')}/{number}"
            found += _alone(field, None, place) if other is None else self._field(field, other, place)
        return found


def reserved_again(old: Any, new: Any, path: str = "") -> Differences:
    """Numbers and names that the old version reserved, and that the new one uses."""
    found = Differences()
    messages = {message.name: message for message in (old.message_type if path == "" else old.nested_type)}
    for message in new.message_type if path == "" else new.nested_type:
        if message.name in messages:
            place = f"{path}/{message.name}"
            found += _reuses(messages[message.name], message, place)
            found += reserved_again(messages[message.name], message, place)
    return found


def _reuses(old: Any, new: Any, path: str) -> Differences:
    ranges, names = Ranges((one.start, one.end) for one in old.reserved_range), set(old.reserved_name)
    return [
        Incompatibility(
            "RESERVED_REUSED",
            f"{path}/{field.number}",
            f"field '{field.name}' uses a number or name that was reserved for fields long gone: choose others",
        )
        for field in new.field
        if field.name in names or field.number in ranges
    ]


def _alone(writer: Any, reader: Any, path: str) -> Differences:
    """Differences of a field that only one side has."""
    if writer is not None and writer.label == _F.LABEL_REQUIRED:
        why = f"required field '{writer.name}' is gone: others cannot read records without it"
        return [Incompatibility("REQUIRED_FIELD_REMOVED", path, why)]
    if reader is not None and reader.label == _F.LABEL_REQUIRED:
        why = f"field '{reader.name}' is required, and records may lack it: make it optional"
        return [Incompatibility("REQUIRED_FIELD_ADDED", path, why)]
    return []


def _label_breaks(writer: Any, reader: Any, path: str) -> Differences:
    required = writer.label == _F.LABEL_REQUIRED, reader.label == _F.LABEL_REQUIRED
    if required[1] and not required[0]:
        why = f"field '{reader.name}' became required, and records may lack it: leave it optional"
        return [Incompatibility("REQUIRED_FIELD_ADDED", path, why)]
    repeated = writer.label == _F.LABEL_REPEATED, reader.label == _F.LABEL_REPEATED
    if repeated[0] == repeated[1] or _wire(writer) == "text or bytes":
        return []
    was, now = ("repeated" if one else "single" for one in repeated)
    why = f"field '{reader.name}' was {was} and is {now}: add a new field instead"
    return [Incompatibility("FIELD_LABEL_CHANGED", path, why)]


def _scalar_breaks(writer: Any, reader: Any, path: str) -> Differences:
    if _wire(writer) == _wire(reader):
        return []
    why = (
        f"field '{reader.name}' was {_wire(writer)} and is {_wire(reader)}: values would be read wrong; add a new field"
    )
    return [Incompatibility("FIELD_SCALAR_KIND_CHANGED", path, why)]


def _wire(field: Any) -> str:
    return _WIRE.get("enum" if field.type == _F.TYPE_ENUM else SCALAR_NAMES.get(field.type, ""), "a message")


def _oneof_breaks(writer: Any, reader: Any, path: str) -> Differences:
    """A reader keeps only the last of a oneof's fields, so fields that could occur together must not move into one."""
    found = Differences()
    before, after = _oneofs(writer), _oneofs(reader)
    lone = {field.number for field in writer.field} - {number for members in before.values() for number in members}
    for name, members in after.items():
        moved = members & lone
        elsewhere = members & {number for one in before.values() for number in one}
        if len(moved) > 1:
            why = f"several fields ({_shown(moved)}) moved into oneof '{name}', and records may hold all of them"
            found.append(Incompatibility("MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{path}/{name}", why))
        elif moved and elsewhere:
            why = f"field {_shown(moved)} moved into oneof '{name}', whose fields records may hold besides it"
            found.append(Incompatibility("FIELD_MOVED_TO_EXISTING_ONEOF", f"{path}/{name}", why))
    for name, members in before.items():
        gone = members - {field.number for field in reader.field}
        if gone:
            why = f"field {_shown(gone)} of oneof '{name}' is gone: a record that holds it would read as having none"
            found.append(Incompatibility("ONEOF_FIELD_REMOVED", f"{path}/{name}", why))
    return found


def _oneofs(message: Any) -> dict[str, set[int]]:
    """The declared oneofs, without those that stand for a proto3 'optional'."""
    found: dict[str, set[int]] = {}
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            found.setdefault(message.oneof_decl[field.oneof_index].name, set()).add(field.number)
    return found


def _by_number(fields: Any) -> dict[int, Any]:
    return {field.number: field for field in fields}


def _by_extendee(file: Any) -> dict[tuple[str, int], Any]:
    return {(field.extendee, field.number): field for field in file.extension}


def _shown(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
