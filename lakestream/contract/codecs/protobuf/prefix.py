"""The prefix of a framed value: the place of its message in its file, as a count and indexes, each a zig-zag varint."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.columns.from_protobuf import DEPTH_MAX

_NAMING_BYTES_MAX = 5 * (DEPTH_MAX + 1)
FIRST = (0,)
"""The first message of the file: its place has a form of its own, a single 0."""


def indexes_of(message: Any) -> tuple[int, ...]:
    """The indexes of a message descriptor: from its number in the file inwards, through the messages around it."""
    around = message.containing_type
    siblings = message.file.message_types_by_name if around is None else around.nested_types_by_name
    own = list(siblings).index(message.name)
    return (own,) if around is None else (*indexes_of(around), own)


def prefixes(indexes: tuple[int, ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The prefix as serializers write it, and the other form of the same place, if there is one."""
    spelled = b"".join(_zigzag(number) for number in (len(indexes), *indexes))
    own, other = (b"\0", spelled) if indexes == FIRST else (spelled, b"")
    return np.frombuffer(own, np.uint8), np.frombuffer(other, np.uint8)


def indexes_in(value: bytes) -> tuple[int, ...] | None:
    """The place of the message that a value (without frame) names; None if the prefix is invalid."""
    numbers = _read_zigzag(value)
    count = next(numbers, -1)
    places = tuple(islice(numbers, count)) if 0 < count <= DEPTH_MAX else FIRST * (count == 0)
    return places if places and len(places) >= count and min(places) >= 0 else None


def message_named(value: bytes, file: Any) -> str | None:
    """The full name of the message that a value names; None if the prefix is invalid."""
    indexes = indexes_in(value)
    return None if indexes is None else message_at(indexes, file)


def message_at(indexes: tuple[int, ...], file: Any) -> str | None:
    """The full name of the message at this place in a file's descriptor; None if there is none."""
    found, siblings = None, file.message_types_by_name
    for place in indexes:
        names = list(siblings)
        if not 0 <= place < len(names):
            return None
        found = siblings[names[place]]
        siblings = found.nested_types_by_name
    return str(found.full_name) if found is not None else None


def _read_zigzag(value: bytes) -> Iterator[int]:
    raw, shift = 0, 0
    for byte in value[:_NAMING_BYTES_MAX]:
        raw |= (byte & 0x7F) << shift
        shift += 7
        if byte < 128:
            yield (raw >> 1) ^ -(raw & 1)
            raw, shift = 0, 0


def _zigzag(number: int) -> bytes:
    rest, written = number << 1, bytearray()
    while rest >= 128:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)
