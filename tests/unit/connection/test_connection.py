"""Frames in any pieces, answers in request order, and nothing taken in that the gate did not let through."""

import struct
from random import Random

import pytest

from lakestream.protocol.kafka.connection import OWN_BUFFER_BYTES_MIN, Connection, Request
from lakestream.protocol.kafka.routes import Routes
from lakestream.protocol.kafka.wire import messages
from lakestream.protocol.kafka.wire.errors import MalformedRequest, UnsupportedRequest
from lakestream.protocol.kafka.wire.records import Iovec
from tests.unit.connection.frames import (
    correlation_ids,
    decoded_response,
    framed,
    heartbeat_frame,
    produce_frame,
    request_frame,
    responses,
)

PRODUCE, FETCH, METADATA, HEARTBEAT, API_VERSIONS = 0, 1, 3, 12, 18
SERVED = {PRODUCE: (3, 13), FETCH: (4, 18), METADATA: (0, 13), HEARTBEAT: (0, 4), API_VERSIONS: (0, 4)}
ROUTES = Routes(SERVED)
FRAME_BYTES_MAX = 4_000_000


class OpenGate:
    def __init__(self) -> None:
        self.asked: list[int] = []
        self.open = True

    def admit(self, frame_bytes: int) -> bool:
        self.asked.append(frame_bytes)
        return self.open

    def room(self) -> int:
        return 10**9

    def grow(self, arrived_bytes: int) -> bool:
        return self.open

    def arrived(self, frame_bytes: int) -> None:
        pass


def connection(gate: OpenGate | None = None) -> Connection:
    buffer = memoryview(bytearray(256 * 1024))
    return Connection(routes=ROUTES, gate=gate or OpenGate(), receive_buffer=buffer, frame_bytes_max=FRAME_BYTES_MAX)


def feed(one: Connection, data: bytes, piece_bytes: int = 10**9) -> list[Request]:
    requests, at = [], 0
    while at < len(data):
        room = one.receive_into()
        count = min(len(room), piece_bytes, len(data) - at)
        room[:count] = data[at : at + count]
        requests += one.received(count)
        at += count
    return requests


def heartbeat_ok(one: Connection, request: Request) -> None:
    one.answer(request, messages.api(HEARTBEAT).Response())


def sent(one: Connection) -> bytes:
    buffers, sent_bytes, _ = one.writable(10**9)
    data = b"".join(buffers)
    assert len(data) == sent_bytes
    return data


def test_frames_split_at_every_byte_are_the_same_requests() -> None:
    data = heartbeat_frame(1, group="first") + produce_frame(b"r" * 40, correlation_id=2) + heartbeat_frame(3)
    for cut in range(1, len(data)):
        one = connection()
        requests = feed(one, data[:cut]) + feed(one, data[cut:])
        assert [request.correlation_id for request in requests] == [1, 2, 3]
        assert requests[0].decode().group_id == "first"
        assert requests[1].decode().topic_data[0].partition_data[0].records == b"r" * 40
        assert not one.mid_frame


@pytest.mark.parametrize("piece_bytes", [1, 3, 1000, 65_536, 200_000])
def test_frames_of_all_sizes_in_pieces_of_all_sizes(piece_bytes: int) -> None:
    chance = Random(piece_bytes)
    sizes = [0, 10, 5_000] if piece_bytes < 1000 else [0, 10, 65_400, 65_536, 65_600, 300_000, 1_000_000, 7]
    batches = [chance.randbytes(size) for size in sizes]
    data = b"".join(produce_frame(batch, correlation_id=at) for at, batch in enumerate(batches))
    requests = feed(connection(), data, piece_bytes)
    assert [request.correlation_id for request in requests] == list(range(len(batches)))
    assert [request.decode().topic_data[0].partition_data[0].records for request in requests] == batches


def test_a_large_frame_is_received_into_its_own_buffer() -> None:
    one, shared = connection(), None
    frame = produce_frame(b"x" * (OWN_BUFFER_BYTES_MIN * 8))
    shared = one.receive_into().obj
    (request,) = feed(one, frame, 100_000)
    records = request.decode().topic_data[0].partition_data[0].records
    assert records.obj is not shared
    assert request.frame_bytes == len(frame) - 4


def test_a_small_frame_does_not_pin_the_shared_buffer() -> None:
    one = connection()
    (request,) = feed(one, produce_frame(b"first"))
    feed(one, produce_frame(b"other"))
    assert request.decode().topic_data[0].partition_data[0].records == b"first"


def test_one_receive_buffer_serves_many_connections() -> None:
    buffer = memoryview(bytearray(256 * 1024))
    many = [
        Connection(routes=ROUTES, gate=OpenGate(), receive_buffer=buffer, frame_bytes_max=FRAME_BYTES_MAX)
        for _ in range(3)
    ]
    frames = [produce_frame(bytes([at]) * size) for at, size in enumerate((50, 30_000, 150_000))]
    got: list[list[Request]] = [[], [], []]
    for at in range(0, 160_000, 997):
        for each, (one, frame) in enumerate(zip(many, frames, strict=True)):
            got[each] += feed(one, frame[at : at + 997])
    for each, requests in enumerate(got):
        (request,) = requests
        assert set(request.decode().topic_data[0].partition_data[0].records) == {each}


def test_answers_leave_in_request_order_whatever_finishes_first() -> None:
    one = connection()
    requests = feed(one, b"".join(heartbeat_frame(at) for at in range(4)))
    for at in (2, 3, 1):
        heartbeat_ok(one, requests[at])
        assert sent(one) == b""
    heartbeat_ok(one, requests[0])
    assert correlation_ids(sent(one)) == [0, 1, 2, 3]
    assert one.outstanding == 0


@pytest.mark.parametrize("version", [1, 13])
@pytest.mark.parametrize(("topics", "steps"), [(0, 0), (100, 0), (5_000, 2)])
def test_a_long_answer_is_made_in_steps_and_is_the_same(topics: int, steps: int, version: int) -> None:
    api, one = messages.api(METADATA), connection()
    response = api.Response(topics=[api.MetadataResponseTopic(name=f"topic-{at}") for at in range(topics)])
    at_once, in_turns = feed(one, request_frame(METADATA, version, api.Request()) * 2)
    one.answer(at_once, response)
    expected = sent(one)
    assert len(list(one.answer_in_turns(in_turns, response))) >= steps
    assert sent(one) == expected


def test_a_request_without_an_answer_leaves_no_bytes_and_blocks_nobody() -> None:
    one = connection()
    first, silent, last = feed(one, heartbeat_frame(1) + produce_frame(b"r", acks=0) + heartbeat_frame(3))
    heartbeat_ok(one, last)
    heartbeat_ok(one, first)
    one.dismiss(silent)
    assert correlation_ids(sent(one)) == [1, 3]


def test_bytes_are_given_back_when_the_answer_is_handed_out() -> None:
    one = connection()
    first, second = feed(one, produce_frame(bytes(8_000)) + produce_frame(bytes(9_000)))
    assert one.unreleased_bytes == first.frame_bytes + second.frame_bytes
    one.dismiss(second)
    assert one.writable(10**9)[2] == 0
    one.dismiss(first)
    assert one.writable(10**9)[2] == first.frame_bytes + second.frame_bytes
    assert one.unreleased_bytes == 0


def test_writable_stops_at_its_bound() -> None:
    one = connection()
    for request in feed(one, b"".join(heartbeat_frame(at) for at in range(3))):
        heartbeat_ok(one, request)
    assert correlation_ids(b"".join(one.writable(1)[0])) == [0]
    assert correlation_ids(sent(one)) == [1, 2]


def test_large_records_are_sent_as_they_are() -> None:
    one, api = connection(), messages.api(FETCH)
    (request,) = feed(one, request_frame(FETCH, 12, api.Request()))
    large, small = b"L" * 50_000, b"s" * 100
    partition = api.PartitionData(partition_index=0, records=Iovec([small, large, small, large]))
    one.answer(request, api.Response(responses=[api.FetchableTopicResponse(topic="t", partitions=[partition])]))
    buffers, _, _ = one.writable(10**9)
    assert sum(each is large for each in buffers) == 2
    assert len(buffers) == 5
    (payload,) = responses(b"".join(buffers))
    records = decoded_response(FETCH, 12, payload).responses[0].partitions[0].records
    assert records == small + large + small + large


def test_a_closed_gate_holds_the_connection_until_it_opens() -> None:
    gate = OpenGate()
    one = connection(gate)
    gate.open = False
    frames = [produce_frame(bytes(8_000), correlation_id=each) for each in (1, 2)]
    assert feed(one, b"".join(frames)) == []
    assert one.awaited == gate.asked[0]
    gate.open = True
    assert [request.correlation_id for request in one.admitted()] == [1, 2]
    assert gate.asked == [one.unreleased_bytes // 2] * 2


def test_a_small_frame_that_came_whole_is_held_at_a_closed_gate_as_well() -> None:
    gate = OpenGate()
    one = connection(gate)
    gate.open = False
    assert feed(one, heartbeat_frame(1)) == []
    assert one.awaited == gate.asked[0] == len(heartbeat_frame(1)) - 4
    gate.open = True
    assert [request.correlation_id for request in one.admitted()] == [1]
    assert [request.correlation_id for request in feed(one, heartbeat_frame(2))] == [2]
    assert len(gate.asked) == 2


def test_the_gate_is_asked_once_per_frame_and_before_it_is_complete() -> None:
    gate = OpenGate()
    one = connection(gate)
    frame = produce_frame(b"x" * 500_000)
    feed(one, frame[:4])
    assert gate.asked == [len(frame) - 4]
    feed(one, frame[4:], 1000)
    feed(one, produce_frame(bytes(8_000)), 1)
    assert len(gate.asked) == 2


def test_a_small_frame_does_not_count_as_held() -> None:
    one = connection(OpenGate())
    feed(one, heartbeat_frame(1))
    assert one.unreleased_bytes == 0


def test_a_large_frame_held_at_the_gate_is_received_after_it() -> None:
    gate = OpenGate()
    one = connection(gate)
    gate.open = False
    frame = produce_frame(b"y" * 500_000)
    feed(one, frame[:1000])
    assert one.admitted() == []
    (request,) = feed(one, frame[1000:])
    assert len(request.decode().topic_data[0].partition_data[0].records) == 500_000


@pytest.mark.parametrize("length", [-1, -(2**31), 0, 9, FRAME_BYTES_MAX + 1, 2**31 - 1])
def test_a_frame_of_impossible_length_is_malformed(length: int) -> None:
    gate = OpenGate()
    with pytest.raises(MalformedRequest, match="frame"):
        feed(connection(gate), struct.pack(">i", length) + bytes(20))
    assert gate.asked == []


@pytest.mark.parametrize(("key", "version"), [(999, 0), (-1, 0), (PRODUCE, 2), (PRODUCE, 14), (HEARTBEAT, -1)])
def test_an_unknown_api_or_version_is_unsupported(key: int, version: int) -> None:
    with pytest.raises(UnsupportedRequest):
        feed(connection(), framed(struct.pack(">hhih", key, version, 1, -1) + bytes(10)))


def test_api_versions_of_an_unknown_version_is_answered_in_version_0() -> None:
    one = connection()
    assert feed(one, framed(struct.pack(">hhih", API_VERSIONS, 77, 5, -1) + b"\0what is this")) == []
    (payload,) = responses(sent(one))
    assert struct.unpack_from(">i", payload) == (5,)
    answer = decoded_response(API_VERSIONS, 0, payload)
    assert answer.error_code == 35
    assert [(each.api_key, each.min_version, each.max_version) for each in answer.api_keys] == [(API_VERSIONS, 0, 4)]


def test_api_versions_has_a_response_header_without_tags() -> None:
    one, api = connection(), messages.api(API_VERSIONS)
    (request,) = feed(one, request_frame(API_VERSIONS, 4, api.Request(client_software_name="c")))
    one.answer(request, api.Response(error_code=0))
    (payload,) = responses(sent(one))
    assert payload[4:6] == b"\0\0"  # the error code comes at once


@pytest.mark.parametrize("client_id", [None, "", "a-client", "é" * 100])
@pytest.mark.parametrize("version", [0, 4])
def test_client_ids_are_read_from_both_headers(client_id: str | None, version: int) -> None:
    body = messages.api(HEARTBEAT).Request(group_id="g")
    frame = request_frame(HEARTBEAT, version, body, client_id=client_id)
    first, second = feed(connection(), frame + frame)
    assert (first.client_id, second.client_id) == (client_id, client_id)
    assert second.decode() == body


def test_a_client_id_that_is_not_utf_8_is_taken_with_marks_in_it() -> None:
    body = messages.api(HEARTBEAT).Request(group_id="g")
    frame = request_frame(HEARTBEAT, 4, body, client_id="cafe").replace(b"cafe", b"caf\xe9")
    (request,) = feed(connection(), frame)
    assert (request.client_id, request.decode()) == ("caf\ufffd", body)


def test_tags_in_the_request_header_are_skipped() -> None:
    body = messages.api(HEARTBEAT).Request(group_id="g")
    (request,) = feed(connection(), request_frame(HEARTBEAT, 4, body, tags=b"\x02\x00\x01x\x63\x00"))
    assert request.decode() == body


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(struct.pack(">h", 500) + b"short", id="client id longer than the frame"),
        pytest.param(struct.pack(">h", -5), id="negative client id"),
        pytest.param(struct.pack(">h", -1), id="no tags"),
        pytest.param(struct.pack(">h", -1) + b"\xff\xff\xff\xff\x0f", id="too many tags"),
        pytest.param(struct.pack(">h", -1) + b"\x01\x00\x50", id="tag longer than the frame"),
    ],
)
def test_a_header_that_lies_is_malformed(rest: bytes) -> None:
    with pytest.raises(MalformedRequest):
        feed(connection(), framed(struct.pack(">hhi", HEARTBEAT, 4, 1) + rest))


def test_random_bytes_are_malformed_or_unsupported_and_nothing_else() -> None:
    chance = Random(11)
    for _ in range(2_000):
        key, version = chance.choice(list(SERVED)), chance.randint(-1, 14)
        frame = framed(struct.pack(">hh", key, version) + chance.randbytes(chance.randint(6, 80)))
        try:
            for request in feed(connection(), frame):
                request.decode()
        except (MalformedRequest, UnsupportedRequest):
            pass
