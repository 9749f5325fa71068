"""Bytes that no proper client sends, to a real broker process while a real client works beside them.

Each is answered with Kafka's own error or a closed connection. The broker stays the same process with the same
memory, and the bystander notices nothing.
"""

import random
import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import confluent_kafka as ck
import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from lakestream.protocol.kafka.apis.all import APIS
from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.requests import REQUESTS, request_for
from tests.integration.kafka.wire_client import WireClient, produce_request, request_frame
from tests.integration.up_process import Up

from .bombs import BOMBS, COMPRESSORS, HEADER_BYTES, MIB, bomb, with_records
from .broker_process import broker_pids, forget_peak, peak_bytes, resident_bytes
from .bystander import Bystander, bystander

MESSAGE_TOO_LARGE, INVALID_TOPIC, UNSUPPORTED_VERSION, INVALID_RECORD = 10, 17, 35, 87
FRAMES = 300
KNOWN_APIS = [api for api in APIS if api.key in REQUESTS]
DECOMPRESSED_MIB_MAX = 256
"""What a broker lets come out of one batch."""
CHECKED_AT_ONCE = 4
"""Batches a broker decompresses at the same time."""
SLACK_BYTES = 96 * MIB
BOMB_MIB = 512


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """The same broker process serves all of this file, and reports no fault of its own."""
    with Up(tmp_path_factory.mktemp("bad") / "data") as running:
        started = broker_pids(running)
        with WireClient(running.kafka) as client:
            client.create_topic("bombed", max_message_bytes=str(8 * MIB))
        yield running
        assert broker_pids(running) == started, "a broker process was replaced"
        assert running.stop() == 0
        for fault in ("Traceback", "a request failed", "cannot be encoded"):
            assert fault not in running.said()


@pytest.fixture(scope="module", autouse=True)
def busy(up: Up) -> Iterator[Bystander]:
    """Works through all of it."""
    with bystander(up.kafka) as working:
        yield working


def throw(up: Up, data: bytes) -> None:
    """Send and leave: whether there is an answer is not waited for."""
    host, port = up.kafka.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as connection:
        try:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # closed on us already, which is fine


def test_random_truncated_and_oversized_frames_harm_nobody(up: Up, busy: Bystander) -> None:
    chance = random.Random(1)
    for _ in range(FRAMES // 3):
        payload = chance.randbytes(chance.choice([0, 1, 5, 13, 200, 5000]))
        throw(up, payload)
        throw(up, struct.pack(">i", len(payload)) + payload)
        throw(up, struct.pack(">i", len(payload) + chance.randrange(1, 1 << 20)) + payload)
    busy.works_on()


def test_bit_flipped_requests_of_every_api_harm_nobody(up: Up, busy: Bystander) -> None:
    chance = random.Random(2)
    for _ in range(FRAMES):
        api = chance.choice(KNOWN_APIS)
        version = chance.randint(*api.versions)
        damaged = bytearray(request_frame(api.key, version, request_for(api.key, version, "flipped", bytes(16)))[4:])
        for _ in range(chance.choice([1, 2, 8])):
            damaged[chance.randrange(8, len(damaged))] ^= 1 << chance.randrange(8)
        throw(up, struct.pack(">i", len(damaged)) + damaged)
    busy.works_on()


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 101 * MIB])
def test_a_frame_of_an_impossible_size_closes_its_connection(length: int, up: Up) -> None:
    with WireClient(up.kafka) as hostile:
        hostile.send_bytes(struct.pack(">i", length) + bytes(20))
        assert hostile.is_closed()


@pytest.mark.parametrize(("key", "version"), [(99, 0), (-1, 0), (4, 0), (3, 99), (0, 0), (0, 14), (1, 3)])
def test_an_unknown_api_or_version_closes_its_connection(key: int, version: int, up: Up, busy: Bystander) -> None:
    with WireClient(up.kafka) as hostile:
        payload = struct.pack(">hhih", key, version, 1, -1) + bytes(40)
        hostile.send_bytes(struct.pack(">i", len(payload)) + payload)
        assert hostile.is_closed()


def test_an_unknown_version_of_api_versions_is_answered_in_the_oldest_layout(up: Up) -> None:
    with WireClient(up.kafka) as newer:
        payload = struct.pack(">hhih", 18, 99, 7, -1) + bytes(40)
        newer.send_bytes(struct.pack(">i", len(payload)) + payload)
        assert struct.unpack_from(">ih", newer.receive_bytes()) == (7, UNSUPPORTED_VERSION)
        newer.call(18, 3, request_for(18, 3, "", bytes(16)))  # and the connection goes on


@pytest.mark.parametrize("codec", BOMBS)
def test_a_decompression_bomb_is_refused_within_bounded_memory(codec: str, up: Up, busy: Bystander) -> None:
    hostile = bomb(codec, BOMB_MIB)
    assert len(hostile) < 8 * MIB
    [pid] = broker_pids(up).values()
    before = resident_bytes(pid)
    forget_peak(pid)
    with WireClient(up.kafka) as client:
        for _ in range(3):
            assert client.produce("bombed", hostile).error_code.value == MESSAGE_TOO_LARGE
    assert peak_bytes(pid) - before < DECOMPRESSED_MIB_MAX * MIB + SLACK_BYTES
    assert resident_bytes(pid) - before < SLACK_BYTES, "what was taken is given back"
    busy.works_on()


def test_many_bombs_at_once_are_refused_within_bounded_memory(up: Up, busy: Bystander) -> None:
    hostile = [bomb(codec, BOMB_MIB) for codec in BOMBS] * 4
    [pid] = broker_pids(up).values()
    before = resident_bytes(pid)
    forget_peak(pid)

    def explode(data: bytes) -> int:
        with WireClient(up.kafka) as client:
            return int(client.produce("bombed", data).error_code.value)

    with ThreadPoolExecutor(len(hostile)) as senders:
        assert set(senders.map(explode, hostile)) == {MESSAGE_TOO_LARGE}
    assert peak_bytes(pid) - before < CHECKED_AT_ONCE * DECOMPRESSED_MIB_MAX * MIB + SLACK_BYTES
    busy.works_on()


@pytest.mark.parametrize("codec", COMPRESSORS)
@pytest.mark.parametrize("claimed", [1, 2, 4, 2**31 - 1])
def test_a_batch_whose_header_counts_other_records_than_it_holds_is_refused(codec: str, claimed: int, up: Up) -> None:
    number, compress = COMPRESSORS[codec]
    inside = compress(batch([b"a", b"b", b"c"])[HEADER_BYTES:])
    with WireClient(up.kafka) as client:
        refused = client.produce("bombed", with_records(number, inside, count=claimed))
        assert refused.error_code.value == INVALID_RECORD
        assert refused.error_message
        answered = client.produce("bombed", with_records(number, inside, count=3))
        assert answered.error_code.value == 0
        stored = records(client.fetch("bombed", answered.base_offset).records)
        assert [each.value for each in stored] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("name", ["", ".", "..", "bad/name", "bad name", "ü", "x" * 250, "a\0b"])
def test_a_bad_topic_name_is_refused_with_kafkas_error(name: str, up: Up) -> None:
    with WireClient(up.kafka) as client:
        metadata = client.call(3, 12, request_for(3, 12, name, bytes(16)))
        assert [topic.error_code.value for topic in metadata.topics] == [INVALID_TOPIC]
        asked = messages.api(19).request.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        [answered] = client.call(19, 7, messages.api(19).Request(topics=[asked])).topics
        assert answered.error_code.value == INVALID_TOPIC
        assert answered.error_message, "it says what is wrong with it"


def test_a_bad_topic_name_reaches_people_as_kafkas_error(up: Up) -> None:
    admin = AdminClient({"bootstrap.servers": up.kafka})
    with pytest.raises(ck.KafkaException, match="letters") as refused:
        admin.create_topics([NewTopic("bad/name", 1, 1)])["bad/name"].result(30)
    assert refused.value.args[0].code() == INVALID_TOPIC


def test_a_client_that_leaves_in_the_middle_of_everything_harms_nobody(up: Up, busy: Bystander) -> None:
    frame = request_frame(0, 9, produce_request({"bombed": {0: batch([bytes(300_000)])}}))
    for part in (1, 4, 10, 100, len(frame) // 2, len(frame) - 1, len(frame)):
        throw(up, frame[:part])
    busy.works_on()
