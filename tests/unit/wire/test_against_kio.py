"""Every version of every message, byte for byte the same as kio writes it, and read back to the same value."""

from random import Random

import pytest

from lakestream.protocol.kafka.wire import describe, messages
from tests.unit.wire.kio_oracle import every_message, kio_bytes, kio_class, ours, random_entity

MESSAGES = list(every_message())
SAMPLES = 4
GROUPS = 8  # a failure names one of them, and then the message


def codec_of(key: int, version: int, kind: str) -> messages.MessageCodec:
    return messages.request(key, version) if kind == "request" else messages.response(key, version)


def encoded(codec: messages.MessageCodec, value: object) -> bytes:
    out: list[bytes | bytearray | memoryview] = []
    codec.encode(value, out)
    return b"".join(out)


def encoded_in_turns(codec: messages.MessageCodec, value: object) -> bytes:
    out: list[bytes | bytearray | memoryview] = []
    for _ in codec.encode_in_turns(value, out):
        pass
    return b"".join(out)


def test_every_api_that_kio_knows_is_described() -> None:
    assert {(key, version) for key in describe.api_keys() for version in describe.versions(key)} == {
        (key, version) for key, version, _ in MESSAGES
    }
    assert len(MESSAGES) > 600


@pytest.mark.parametrize("group", range(GROUPS))
def test_bytes_are_those_of_kio_and_decode_to_the_same_value(group: int) -> None:
    chance = Random(group)
    for key, version, kind in MESSAGES[group::GROUPS]:
        codec, cls = codec_of(key, version, kind), kio_class(key, version, kind)
        for _ in range(SAMPLES):
            entity = random_entity(cls, chance)
            theirs = kio_bytes(entity)
            value = ours(entity, codec.types)
            assert encoded(codec, value) == theirs, f"{cls.__name__} v{version}"
            assert encoded_in_turns(codec, value) == theirs, f"{cls.__name__} v{version}"
            decoded, at = codec.decode(memoryview(theirs), 0)
            assert at == len(theirs), f"{cls.__name__} v{version}"
            assert decoded == value, f"{cls.__name__} v{version}"


def test_header_versions_are_those_of_kafka() -> None:
    assert messages.request(0, 8).message.header_version == 1
    assert messages.request(0, 9).message.header_version == 2
    assert messages.response(0, 9).message.header_version == 1
    assert messages.response(18, 4).message.header_version == 0  # a client that does not know us yet must read it
