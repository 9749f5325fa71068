"""A group's coordinator is killed: its members go on at the other broker, and no committed offset is lost."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import confluent_kafka as ck
import pytest

from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.wire_client import WireClient
from tests.integration.up_process import Up

from .broker_process import broker_pids

PARTITIONS = 4
LEASE_MS = 1_500
SESSION_MS = 10_000
PATIENCE_SECONDS = 40
QUICK = {
    "broker.lease_ms": LEASE_MS,
    "group.initial_rebalance_delay_ms": 0,
    "group.session_timeout_ms_min": 1_000,
    "group.consumer_session_timeout_ms": SESSION_MS,
    "group.consumer_heartbeat_interval_ms": 300,
}


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    flags = [flag for name, value in QUICK.items() for flag in ("--set", f"{name}={value}")]
    with Up(tmp_path / "data", "--brokers", "2", *flags) as running:
        yield running
        assert running.stop() == 0
        assert "Traceback" not in running.said()


class Reader:
    """A member that commits each record it has read, and remembers the greatest offset whose commit was answered."""

    def __init__(self, bootstrap: str, protocol: str, topic: str) -> None:
        config = {
            "bootstrap.servers": bootstrap,
            "group.id": "survivors",
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "topic.metadata.refresh.interval.ms": 500,
        }
        if protocol == "classic":
            config |= {"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 300}
        self._consumer = ck.Consumer(config)
        self._consumer.subscribe([topic])
        self.assignment: set[int] = set()
        self.read: set[tuple[int, int]] = set()
        self.committed: dict[int, int] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            for message in self._consumer.consume(50, 0.1):
                if message.error() is None:
                    self.read.add((message.partition(), message.offset()))
                    self._commit(message)
            self.assignment = {each.partition for each in self._consumer.assignment()}

    def _commit(self, message: ck.Message) -> None:
        try:
            [done] = self._consumer.commit(message, asynchronous=False)
        except ck.KafkaException:
            return  # not answered: nothing was promised
        self.committed[done.partition] = max(done.offset, self.committed.get(done.partition, 0))

    def close(self) -> None:
        self._stop.set()
        self._thread.join(PATIENCE_SECONDS)
        self._consumer.close()


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_members_outlive_their_coordinator(up: Up, protocol: str) -> None:
    with WireClient(up.kafka.split(",")[0]) as client:
        client.create_topic("read", partitions=PARTITIONS)
    writer = ck.Producer({"bootstrap.servers": up.kafka, "linger.ms": 5})
    readers = [Reader(up.kafka, protocol, "read") for _ in range(2)]
    try:
        write(writer, 10)
        until(lambda: shared(readers) and len(all_read(readers)) == 10 * PARTITIONS, readers)
        coordinator = coordinator_of_survivors(up)
        os.kill(broker_pids(up)[coordinator], signal.SIGKILL)
        died_at = time.monotonic()
        write(writer, 10)
        until(lambda: len(all_read(readers)) == 20 * PARTITIONS, readers)
        until(lambda: caught_up(readers), readers)
        print(f"{protocol}: commits are answered again {time.monotonic() - died_at:.1f} s after the kill")
    finally:
        for reader in readers:
            reader.close()
    stored = stored_offsets(up)
    for reader in readers:
        for partition, offset in reader.committed.items():
            assert stored[partition] >= offset, "a commit that was answered is never lost"


def write(writer: ck.Producer, count: int) -> None:
    for _ in range(count):
        for partition in range(PARTITIONS):
            writer.produce("read", b"value", partition=partition)
    assert writer.flush(PATIENCE_SECONDS) == 0


def shared(readers: list[Reader]) -> bool:
    return all(reader.assignment for reader in readers) and set().union(
        *(reader.assignment for reader in readers)
    ) == set(range(PARTITIONS))


def all_read(readers: list[Reader]) -> set[tuple[int, int]]:
    return set().union(*(reader.read for reader in readers))


def caught_up(readers: list[Reader]) -> bool:
    """Commits are answered again, for everything that was read."""
    greatest = dict.fromkeys(range(PARTITIONS), 0)
    for reader in readers:
        for partition, offset in reader.committed.items():
            greatest[partition] = max(greatest[partition], offset)
    return all(offset == 20 for offset in greatest.values())


def until(done: Callable[[], bool], readers: list[Reader]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not done():
        seen = [(reader.assignment, len(reader.read), reader.committed) for reader in readers]
        assert time.monotonic() < deadline, f"they did not get on: {seen}"
        time.sleep(0.1)


def coordinator_of_survivors(up: Up) -> int:
    with WireClient(up.kafka.split(",")[0]) as client:
        asked = messages.api(10).Request(key_type=0, coordinator_keys=["survivors"])
        [found] = client.call(10, 4, asked).coordinators
    return int(found.node_id)


def stored_offsets(up: Up) -> dict[int, int]:
    """As a stranger reads them, with a client of its own."""
    reader = ck.Consumer({"bootstrap.servers": up.kafka, "group.id": "survivors", "enable.auto.commit": False})
    try:
        asked = [ck.TopicPartition("read", partition) for partition in range(PARTITIONS)]
        return {each.partition: each.offset for each in reader.committed(asked, PATIENCE_SECONDS)}
    finally:
        reader.close()
