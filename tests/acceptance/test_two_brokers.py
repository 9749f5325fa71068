"""`lakestream up --brokers 2`: two equal brokers on one store, with real clients."""

import os
import signal
import time
from collections.abc import Iterator

import confluent_kafka as ck
import pytest

from tests.integration.kafka.batches import batch, records
from tests.integration.kafka.requests import request_for
from tests.integration.kafka.wire_client import WireClient, fetch_request
from tests.integration.up_process import Up

from .broker_process import broker_pids, paused
from .bystander import bystander
from .patient import produce_until_stored

PARTITIONS = 16
LEASE_MS = 1_500
LONG_POLL_MS = 20_000
"""Far longer than anything here takes: a reader that is not woken is noticed."""
PATIENCE_SECONDS = 30


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    short_lease = ("--set", f"broker.lease_ms={LEASE_MS}")
    with Up(tmp_path_factory.mktemp("two") / "data", "--brokers", "2", *short_lease) as running:
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.said()


def leaders_seen(bootstrap: str, topic: str, client_id: str) -> tuple[set[int], list[int]]:
    """Broker ids, and the leader of each partition, as one client is told."""
    with WireClient(bootstrap, client_id=client_id) as client:
        metadata = client.call(3, 12, request_for(3, 12, topic, bytes(16)))
    [seen] = metadata.topics
    partitions = sorted(seen.partitions, key=lambda each: each.partition_index)
    return {broker.node_id for broker in metadata.brokers}, [each.leader_id for each in partitions]


def wait_until_live(up: Up, brokers: set[int]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    for address in _addresses_of(up, brokers):
        while leaders_seen(address, "any", "waiting")[0] != brokers:
            assert time.monotonic() < deadline
            time.sleep(0.1)


def _addresses_of(up: Up, brokers: set[int]) -> list[str]:
    return [address for number, address in enumerate(up.kafka.split(",")) if number in brokers]


def test_clients_see_both_and_both_lead(up: Up) -> None:
    first, second = up.kafka.split(",")
    with WireClient(first) as client:
        client.create_topic("spread", partitions=PARTITIONS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:  # on a busy machine a lease as short as this may lapse for a moment
        by_first, by_second = leaders_seen(first, "spread", "client"), leaders_seen(second, "spread", "client")
        if by_first == by_second and by_first[0] == {0, 1}:
            break
        assert time.monotonic() < deadline, f"they tell different things: {by_first}, {by_second}"
        time.sleep(0.1)
    assert set(by_first[1]) == {0, 1}


def test_a_long_poll_at_one_broker_is_woken_by_a_produce_at_the_other(up: Up) -> None:
    first, second = up.kafka.split(",")
    with WireClient(first) as writer, WireClient(second) as reader:
        writer.create_topic("woken")
        for number in range(5):
            asked = reader.send(1, 12, fetch_request({"woken": {0: number}}, max_wait=LONG_POLL_MS))
            time.sleep(0.05)  # it waits by now
            value = b"%d" % number
            assert produce_until_stored(writer, "woken", batch([value])) == number
            [topic] = reader.receive(1, 12, asked).responses
            [part] = topic.partitions
            assert [record.value for record in records(part.records)] == [value]


def test_an_idempotent_producer_is_known_to_both(up: Up) -> None:
    """A retry that reaches the other broker is the same batch, not a second one."""
    first, second = up.kafka.split(",")
    with WireClient(first) as one, WireClient(second) as other:
        one.create_topic("once")
        producer = one.call(22, 4, request_for(22, 4, "", bytes(16))).producer_id
        sent = batch([b"once"], producer=(producer, 0, 0))
        assert produce_until_stored(one, "once", sent) == 0
        assert produce_until_stored(other, "once", sent) == 0
        assert produce_until_stored(other, "once", batch([b"next"], producer=(producer, 0, 1))) == 1
        assert [record.value for record in records(one.fetch("once", 0).records)] == [b"once", b"next"]


@pytest.mark.parametrize("victim", [0, 1])
def test_clients_carry_on_when_a_broker_is_killed(victim: int, up: Up) -> None:
    """librdkafka loses connections, moves to the other broker, and comes back: all acknowledged, once, in order."""
    wait_until_live(up, {0, 1})
    with bystander(up.kafka, f"killed-{victim}", notices_errors=False) as working:
        os.kill(broker_pids(up)[victim], signal.SIGKILL)
        working.works_on(50)
        up.wait_until_said(f"broker {victim} is back")
        working.works_on(50)


def test_a_broker_that_slept_past_its_lease_brings_in_nothing_twice(up: Up) -> None:
    """SIGSTOP under load until its lease has run out, then SIGCONT: nothing is lost or doubled.

    Stopped in the middle of a transaction it holds SQLite's one write lock, and the other broker waits as well; so
    nothing is asked of that one meanwhile (test_postgres.py does).
    """
    wait_until_live(up, {0, 1})
    with bystander(up.kafka, "slept", notices_errors=False) as working:
        with paused(broker_pids(up)[_leader_of(up, "slept")], 2 * LEASE_MS / 1000):
            pass
        working.works_on(50)
        wait_until_live(up, {0, 1})
        working.works_on(50)
    up.wait_until_said("the lease was lost; registering anew")


def _leader_of(up: Up, topic: str) -> int:
    producer = ck.Producer({"bootstrap.servers": up.kafka, "log_level": 0})
    leader = producer.list_topics(topic, PATIENCE_SECONDS).topics[topic].partitions[0].leader
    producer.close()
    return int(leader)
