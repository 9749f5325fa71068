"""Bytes that lie. Whatever comes, the decoder answers with a value or with MalformedRequest, and stays small."""

import struct
import tracemalloc
from random import Random

import pytest

from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.errors import MalformedRequest
from lakestream.protocol.kafka.wire.primitives import ELEMENTS_MAX, uvarint
from tests.unit.wire.kio_oracle import every_message, kio_bytes, kio_class, random_entity

PRODUCE, METADATA, HEARTBEAT, FIND_COORDINATOR, API_VERSIONS = 0, 3, 12, 10, 18
MUTATIONS = 12
INTERESTING = (0x00, 0x01, 0x7F, 0x80, 0xFF)


def mutated(frame: bytes, chance: Random) -> bytes:
    data = bytearray(frame)
    match chance.randrange(4):
        case 0:
            del data[chance.randrange(len(data) + 1) :]
        case 1:
            for _ in range(chance.randint(1, 4)):
                data[chance.randrange(len(data))] = chance.choice((*INTERESTING, chance.randrange(256)))
        case 2:
            at = chance.randrange(len(data))
            data[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00"))
        case 3:
            at = chance.randrange(len(data))
            data[at:at] = chance.randbytes(chance.randint(1, 9))
    return bytes(data)


def test_mutated_requests_are_decoded_or_malformed_and_nothing_else() -> None:
    chance, decoded, refused = Random(7), 0, 0
    for key, version, kind in every_message():
        if kind == "response":
            continue
        codec = messages.request(key, version)
        frame = kio_bytes(random_entity(kio_class(key, version, kind), chance)) or b"\0"
        for _ in range(MUTATIONS):
            data = mutated(frame, chance)
            try:
                _, at = codec.decode(memoryview(data), 0)
            except MalformedRequest:
                refused += 1
            else:
                decoded += 1
                assert at <= len(data)
    assert decoded > 500
    assert refused > 500


def test_every_truncation_of_a_request_is_malformed() -> None:
    chance = Random(3)
    for key, version in ((PRODUCE, 9), (PRODUCE, 3), (1, 17), (METADATA, 12), (METADATA, 1), (11, 9), (19, 7)):
        codec = messages.request(key, version)
        frame = kio_bytes(random_entity(kio_class(key, version, "request"), chance))
        for end in range(min(len(frame), 400)):
            with pytest.raises(MalformedRequest):
                codec.decode(memoryview(frame[:end]), 0)


@pytest.mark.parametrize(
    ("key", "version", "frame"),
    [
        pytest.param(HEARTBEAT, 0, struct.pack(">h", 1000) + b"abc", id="string longer than the frame"),
        pytest.param(HEARTBEAT, 0, struct.pack(">h", -2) + bytes(20), id="negative string length"),
        pytest.param(HEARTBEAT, 0, struct.pack(">h", -1) + bytes(20), id="null where a string must be"),
        pytest.param(HEARTBEAT, 4, b"\0" + bytes(20), id="compact null where a string must be"),
        pytest.param(HEARTBEAT, 4, uvarint(40_001) + b"x" * 40_000, id="string longer than Kafka allows"),
        pytest.param(HEARTBEAT, 4, b"\xff\xff\xff\xff\xff\xff\x01" + bytes(20), id="varint of seven bytes"),
        pytest.param(HEARTBEAT, 4, b"\xff\xff\xff\xff\x7f" + bytes(20), id="varint of 35 bits"),
        pytest.param(METADATA, 1, struct.pack(">i", 2**31 - 1), id="huge array"),
        pytest.param(METADATA, 1, struct.pack(">i", -2), id="negative array length"),
        pytest.param(METADATA, 0, struct.pack(">i", -1), id="null where an array must be"),
        pytest.param(METADATA, 9, uvarint(2**31), id="huge compact array"),
        pytest.param(PRODUCE, 9, b"\0\xff\xff\0\0\0\0\x02\x02t\x02\0\0\0\0" + uvarint(2**31), id="huge records"),
        pytest.param(API_VERSIONS, 3, b"\x02a\x02b" + uvarint(2**32 - 1), id="huge number of tags"),
        pytest.param(API_VERSIONS, 3, b"\x02a\x02b\x01\x09" + uvarint(2**31), id="huge tag"),
    ],
)
def test_a_lie_is_malformed(key: int, version: int, frame: bytes) -> None:
    with pytest.raises(MalformedRequest):
        messages.request(key, version).decode(memoryview(frame), 0)


def test_a_byte_other_than_0_and_1_is_true_as_for_kafka() -> None:
    codec = messages.request(METADATA, 4)
    assert codec.decode(memoryview(struct.pack(">i", -1) + b"\x07"), 0)[0].allow_auto_topic_creation is True


def test_more_elements_than_the_bound_are_refused_before_they_are_made() -> None:
    codec = messages.request(FIND_COORDINATOR, 4)
    frame = b"\0" + uvarint(ELEMENTS_MAX + 2) + b"\x03ab" * (ELEMENTS_MAX + 1) + b"\0"
    codec.decode(memoryview(b"\0\x02\x03ab\0"), 0)
    tracemalloc.start()
    try:
        with pytest.raises(MalformedRequest, match="more elements"):
            codec.decode(memoryview(frame), 0)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_a_count_that_the_frame_cannot_hold_allocates_nothing() -> None:
    codec = messages.request(METADATA, 1)
    with pytest.raises(MalformedRequest):
        codec.decode(memoryview(struct.pack(">i", 5)), 0)  # compiled before we measure
    tracemalloc.start()
    try:
        for count in (2**31 - 1, ELEMENTS_MAX, 100_000):
            with pytest.raises(MalformedRequest):
                codec.decode(memoryview(struct.pack(">i", count) + bytes(1_000)), 0)
        assert tracemalloc.get_traced_memory()[1] < 200_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "read"),
    [(b"\xff\xfe", "\ufffd\ufffd"), (b"caf\xe9!", "caf\ufffd!"), (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd")],
    ids=["no bytes of UTF-8", "Latin-1", "half of a surrogate pair"],
)
def test_what_is_not_utf_8_is_read_with_marks_in_it(text: bytes, read: str) -> None:
    request, _ = messages.request(HEARTBEAT, 4).decode(
        memoryview(uvarint(len(text) + 1) + text + bytes(4) + b"\x01\0\0"), 0
    )
    assert request.group_id == read
