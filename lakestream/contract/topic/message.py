"""Chooses the message of a Protobuf file that a topic's values are, if the file has several."""

from typing import Any, NamedTuple

from lakestream.contract.codecs.protobuf.prefix import message_at
from lakestream.contract.columns.from_protobuf import message_of
from lakestream.contract.registry.protobuf.format import ProtoSchema


class ProtobufMessage(NamedTuple):
    name: str = ""
    """The message in the topic's configs, which takes precedence."""
    usual: str = ""
    """The message of earlier schemas: a new version of the file may have it in another place."""
    place: tuple[int, ...] = ()
    """Its place in the file, as the values name it."""


THE_FIRST = ProtobufMessage()


def name_of_message(schema: ProtoSchema, message: ProtobufMessage) -> str:
    """The full name; '' for the first of the file, if nothing else is known. Raises InvalidSchema if the file has no
    message."""
    if message.name:
        return message.name
    file = message_of(schema).file
    if message.usual and _has(schema, file, message.usual):
        return message.usual
    return message_at(message.place, file) or ""


def _has(schema: ProtoSchema, file: Any, name: str) -> bool:
    """Whether the file itself defines the message, not an import: values can only be of its own messages."""
    try:
        return bool(schema.pool.FindMessageTypeByName(name).file.name == file.name)
    except KeyError:
        return False
