"""Bytes that are no requests: their connection may be closed, nothing else may happen to anyone."""

import random
import struct
from collections.abc import Iterator

import pytest

from lakestream.broker.broker import BrokerLimits
from lakestream.broker.groups.limits import GroupLimits
from lakestream.protocol.kafka.apis.all import APIS
from lakestream.testing.local import LocalLakestream

from .batches import batch, records
from .group_requests import GROUP_REQUESTS, group_request
from .requests import request_for
from .running import Running, running
from .wire_client import WireClient, produce_request, request_frame

READ_SECONDS_MAX = 0.02
"""Nobody waits for answers here: some of the damaged requests ask for a long wait."""
ROUNDS = 40
API_VERSIONS = [(api.key, version) for api in APIS for version in {api.versions[0], api.versions[1]}]


@pytest.fixture(scope="module")
def service() -> Iterator[Running]:
    """Faults in the background are raised when it ends."""
    limits = BrokerLimits(groups=GroupLimits(initial_rebalance_delay_ms=0))
    with running(LocalLakestream(limits=limits)) as alone:
        yield alone


@pytest.fixture
def witness(service: Running) -> Iterator[WireClient]:
    """A client that was there before, and that must notice nothing."""
    with WireClient(service.addresses[0]) as connected:
        connected.call(3, 12, request_for(3, 12, "witness", bytes(16)))  # creates the topic
        before = connected.produce("witness", batch([b"before"])).base_offset
        yield connected
        assert connected.produce("witness", batch([b"after"])).base_offset == before + 1
        stored = records(connected.fetch("witness", before).records)
        assert [each.value for each in stored] == [b"before", b"after"]
    assert _failures(service) == 0, "a client's bytes led to UNKNOWN_SERVER_ERROR: see the log"


def _failures(service: Running) -> float:
    return sum(
        sample.value
        for metrics in service.local.metrics
        for family in metrics.collect()
        for sample in family.samples
        if sample.name == "lakestream_request_errors_total" and sample.labels["code"] == "-1"
    )


def _throw(service: Running, data: bytes) -> None:
    with WireClient(service.addresses[0]) as hostile:
        hostile._socket.settimeout(READ_SECONDS_MAX)
        try:
            hostile.send_bytes(data)
            hostile._socket.recv(1 << 16)
        except OSError:
            pass  # closed on us, or nothing to say: both are fine


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes_harm_nobody(seed: int, service: Running, witness: WireClient) -> None:
    chance = random.Random(seed)
    for _ in range(ROUNDS):
        payload = chance.randbytes(chance.choice([0, 1, 5, 13, 200, 5000]))
        _throw(service, chance.choice([payload, struct.pack(">i", len(payload)) + payload]))


@pytest.mark.parametrize(("key", "version"), API_VERSIONS)
def test_damaged_requests_harm_nobody(key: int, version: int, service: Running, witness: WireClient) -> None:
    """Bits flipped, bytes missing or added, with a length that fits what is sent."""
    chance = random.Random(key * 100 + version)
    if key in GROUP_REQUESTS:
        asked = group_request(witness, key, version, "witness", chance.randbytes(16))
    else:
        asked = request_for(key, version, "damaged", chance.randbytes(16))
    payload = request_frame(key, version, asked)[4:]
    for _ in range(ROUNDS // 4):
        damaged = bytearray(payload)
        for _ in range(chance.choice([1, 1, 2, 8])):
            damaged[chance.randrange(8, len(damaged))] ^= 1 << chance.randrange(8)
        cut = bytes(damaged[: chance.choice([len(damaged), len(damaged), chance.randrange(8, len(damaged))])])
        cut += chance.choice([b"", b"", chance.randbytes(9)])
        _throw(service, struct.pack(">i", len(cut)) + cut)


@pytest.mark.parametrize("length", [-1, 0, 9, 2**31 - 1, -(2**31), 101 * 1024 * 1024])
def test_an_impossible_length_closes_the_connection(length: int, service: Running, witness: WireClient) -> None:
    with WireClient(service.addresses[0]) as hostile:
        hostile.send_bytes(struct.pack(">i", length) + bytes(20))
        assert hostile.is_closed()


@pytest.mark.parametrize("key", [4, 5, 99, -1, 32_000])
def test_an_unknown_api_closes_the_connection(key: int, service: Running, witness: WireClient) -> None:
    with WireClient(service.addresses[0]) as hostile:
        payload = struct.pack(">hhih", key, 0, 1, -1) + bytes(40)
        hostile.send_bytes(struct.pack(">i", len(payload)) + payload)
        assert hostile.is_closed()


def test_a_client_that_leaves_in_the_middle_of_a_request_harms_nobody(service: Running, witness: WireClient) -> None:
    frame = request_frame(0, 9, produce_request({"witness": {0: batch([bytes(200_000)])}}))
    for part in (1, 4, 10, 100, len(frame) // 2, len(frame) - 1):
        with WireClient(service.addresses[0]) as leaving:
            leaving.send_bytes(frame[:part])


def test_a_client_that_leaves_before_its_answer_harms_nobody(service: Running, witness: WireClient) -> None:
    for _ in range(10):
        with WireClient(service.addresses[0]) as leaving:
            leaving.send(0, 9, produce_request({"left": {0: batch()}}))
            leaving.send(3, 12, request_for(3, 12, "left", bytes(16)))
            leaving.send(1, 12, request_for(1, 12, "left", bytes(16)))


def test_a_decompression_bomb_is_refused_and_only_it(service: Running, witness: WireClient) -> None:
    bomb = batch([bytes(300 * 1024 * 1024)], codec=1)
    assert len(bomb) < 1024 * 1024
    assert witness.produce("witness", bomb).error_code.value == 10
