"""Hostile values in well-formed requests: these pass the codec, and reach the handlers."""

import struct
from collections.abc import Iterator
from random import Random
from typing import Any

from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.shapes import Shape
from tests.integration.kafka.batches import ATTRIBUTES_AT, CRC_AT, patched
from tests.integration.kafka.wire_client import request_frame

NUMBERS = (0, 1, -1, -2, 2, 3, 127, 1_000, 32_767, -32_768, 10**6, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63))
TEXTS = (None, "", ".", "..", "fuzzed", "a" * 249, "a" * 250, "a" * 32_000, "\0", "a/b", "é", "\U0001f600", "-1", "{}")
BYTES = (None, b"", b"\0", bytes(16), b"\xff" * 16, bytes(61), bytes(5_000))
ELEMENTS_MAX = 20
"""Of an array, whichever way it grows; arrays lie in arrays."""

HEADER_BYTES = 10


def with_hostile_values(chance: Random, payload: bytes) -> bytes:
    """The payload of a request, with some fields changed. Values that its version cannot carry leave it unchanged."""
    key, version, _, client_id_bytes = struct.unpack_from(">hhih", payload)
    codec = messages.request(key, version)
    at = HEADER_BYTES + client_id_bytes + (codec.message.header_version >= 2)
    body = codec.decode(memoryview(payload), at)[0]
    places = list(_places(body))
    for owner, name in chance.sample(places, min(chance.choice((1, 1, 2, 5)), len(places))):
        setattr(owner, name, _hostile(chance, getattr(owner, name)))
    try:
        return request_frame(key, version, body)[4:]
    except (struct.error, OverflowError, TypeError, ValueError, AttributeError):
        return payload


def _places(shape: Any) -> Iterator[tuple[Any, str]]:
    for name in shape.__slots__:
        value = getattr(shape, name)
        if isinstance(value, Shape):
            continue  # it may be a default, which all share
        yield shape, name
        if isinstance(value, list):
            for each in value:
                if isinstance(each, Shape):
                    yield from _places(each)


def _hostile(chance: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return chance.choice((*NUMBERS, value + 1, value - 1))
    if isinstance(value, bytes | bytearray | memoryview):
        return _hostile_bytes(chance, bytes(value))
    if isinstance(value, list | tuple):
        more = ELEMENTS_MAX // max(len(value), 1)
        return chance.choice((None, [], [*value] * min(more, 2), [*value] * more, [*reversed(value)]))
    return chance.choice(TEXTS)


def _hostile_bytes(chance: Random, value: bytes) -> bytes | None:
    if len(value) <= ATTRIBUTES_AT or chance.random() < 0.2:
        return chance.choice((*BYTES, chance.randbytes(16), value + value, value[: len(value) // 2]))
    at = chance.choice([at for at in range(len(value) - 1) if not CRC_AT <= at < ATTRIBUTES_AT])
    return patched(value, at, "B", chance.choice((0, 1, 127, 128, 255)))  # a record batch whose checksum fits
