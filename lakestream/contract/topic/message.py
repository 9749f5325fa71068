"""Which message of a Protobuf file values are, where the file has several."""

from typing import Any, NamedTuple

from lakestream.contract.codecs.protobuf.prefix import message_at
from lakestream.contract.columns.from_protobuf import message_of
from lakestream.contract.registry.protobuf.format import ProtoSchema


class ProtobufMessage(NamedTuple):
    name: str = ""
    """What the topic's configs say: then it must be this one."""
    usual: str = ""
    """What earlier schemas were read as: a new version of the file may have it in another place."""
    place: tuple[int, ...] = ()
    """Where it stands in the file, by what the values say themselves."""


THE_FIRST = ProtobufMessage()


def name_of_message(schema: ProtoSchema, message: ProtobufMessage) -> str:
    """The full name; '' for the first of the file, where nothing else is known. Raises InvalidSchema where the file has
    no message at all."""
    if message.name:
        return message.name
    file = message_of(schema).file
    if message.usual and _has(schema, file, message.usual):
        return message.usual
    return message_at(message.place, file) or ""


def _has(schema: ProtoSchema, file: Any, name: str) -> bool:
    """Itself, not by what it imports: values can only be of its own."""
    try:
        return bool(schema.pool.FindMessageTypeByName(name).file.name == file.name)
    except KeyError:
        return False
