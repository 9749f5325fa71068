"""Real processes, real clients, `kill -9` at random moments: nothing acknowledged is lost, nothing is doubled.

    idempotent producers write all the time -> 20 times: change the topic's profile; kill a broker, or everything
    -> everyone finishes -> read all of it -> hold it against what was acknowledged

Two brokers share one SQLite file and one folder of objects, so a producer's retries go from one to the other.
"""

import os
import random
import signal
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from lakestream.model.configs.profile import PROFILE, Profile
from tests.ports import free_address

from .up_process import Up

SOAK = bool(os.environ.get("LAKESTREAM_SOAK"))
ROUNDS = 200 if SOAK else 20
EVERYTHING_EVERY = 7
"""Every so many rounds the supervisor dies as well."""
PARTITIONS = 3
PRODUCERS = 3
PAUSE_SECONDS = 0.002
FINISH_SECONDS_MAX = 60.0

Place = tuple[int, int]


class Writer:
    """One idempotent producer that outlives the brokers, and remembers what they acknowledged."""

    def __init__(self, bootstrap: str, number: int) -> None:
        self.acked: dict[Place, str] = {}
        self.refused: list[str] = []
        self._number = number
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 2,
                "batch.num.messages": 20,
                "message.timeout.ms": 600_000,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 200,
                "retry.backoff.ms": 50,
                "socket.timeout.ms": 5_000,
                "log_level": 0,
            }
        )
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write, name=f"writer-{number}", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Write no more, and wait until all that was written is acknowledged."""
        self._stop.set()
        self._thread.join()
        left = self._producer.flush(FINISH_SECONDS_MAX)
        assert left == 0, f"{left} records of writer {self._number} were never acknowledged"

    def _write(self) -> None:
        count = 0
        while not self._stop.is_set():
            with suppress(BufferError):
                value = f"{self._number}:{count}"
                self._producer.produce("t", value, partition=count % PARTITIONS, on_delivery=self._delivered)
                count += 1
            self._producer.poll(PAUSE_SECONDS)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.refused.append(f"{message.value()!r}: {error}")
        else:
            self.acked[message.partition(), message.offset()] = message.value().decode()


class Lakestream:
    """`lakestream up` with two brokers, always on the same port, and whoever kills it."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self.kafka = free_address()
        self.brokers_killed = 0
        self._up = self._start()

    def _start(self) -> Up:
        return Up(self._data, "--kafka", self.kafka, "--brokers", "2", "--no-pipeline")

    def kill_a_broker(self, rng: random.Random) -> None:
        """The supervisor starts it again."""
        brokers = [pid for pid, command in self._parts() if command == "broker"]
        if brokers:
            self.brokers_killed += _kill(rng.choice(brokers))

    def kill_everything(self) -> None:
        self._kill_all()
        self._up = self._start()

    def close(self) -> None:
        try:
            assert self._up.stop() == 0, self._up.said()
        finally:
            if self._up.process.poll() is None:
                self._kill_all()

    def _kill_all(self) -> None:
        parts = self._parts()
        _kill(self._up.process.pid)  # first, or it would start the others again
        for pid, _ in parts:
            _kill(pid)
        self._up.process.wait()

    def _parts(self) -> list[tuple[int, str]]:
        """Our own children: process id, and the command that runs in it."""
        found = []
        children = Path(f"/proc/{self._up.process.pid}/task/{self._up.process.pid}/children").read_text()
        for pid in map(int, children.split()):
            with suppress(OSError, ValueError, IndexError):
                command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                found.append((pid, command[command.index(b"lakestream") + 1].decode()))
        return found


@contextmanager
def running(data: Path) -> Iterator[Lakestream]:
    lakestream = Lakestream(data)
    try:
        yield lakestream
    finally:
        lakestream.close()


def test_nothing_acknowledged_is_lost_and_nothing_is_doubled_through_kills(tmp_path: Path) -> None:
    seed = time.time_ns()
    rng = random.Random(seed)
    with running(tmp_path / "data") as lakestream:
        _create_topic(lakestream.kafka)
        writers = [Writer(lakestream.kafka, number) for number in range(PRODUCERS)]
        for round in range(1, ROUNDS + 1):
            time.sleep(rng.uniform(0.1, 0.8))
            _change_profile(lakestream.kafka, rng.choice(list(Profile)))
            if round % EVERYTHING_EVERY:
                lakestream.kill_a_broker(rng)
            else:
                lakestream.kill_everything()
        assert lakestream.brokers_killed > ROUNDS // 2, "too few were killed to say anything"
        for writer in writers:
            writer.finish()
        _check(writers, _read_all(lakestream.kafka), f"seed {seed}")


def _check(writers: list[Writer], read: dict[Place, str], seed: str) -> None:
    acked = {place: value for writer in writers for place, value in writer.acked.items()}
    refused = [refusal for writer in writers for refusal in writer.refused]
    assert not refused, f"{seed}: an idempotent producer that retries is never refused: {refused[:3]}"
    assert len(acked) == sum(len(writer.acked) for writer in writers), f"{seed}: two records have one offset"
    assert len(acked) > ROUNDS, f"{seed}: too little was written to say anything"
    lost = {place: value for place, value in acked.items() if read.get(place) != value}
    assert not lost, f"{seed}: acknowledged, but not there: {dict(list(lost.items())[:3])}"
    doubled = [value for value, count in Counter(read.values()).items() if count > 1]
    assert not doubled, f"{seed}: stored more than once: {doubled[:3]}"
    by_partition: dict[int, list[int]] = defaultdict(list)
    for partition, offset in sorted(read):
        by_partition[partition].append(offset)
    for partition, offsets in by_partition.items():
        assert offsets == list(range(len(offsets))), f"{seed}: partition {partition} has holes"
    _check_order(read, seed)


def _check_order(read: dict[Place, str], seed: str) -> None:
    last: dict[tuple[int, str], int] = {}
    for (partition, offset), value in sorted(read.items()):
        writer, count = value.split(":")
        before = last.get((partition, writer), -1)
        assert before < int(count), f"{seed}: {value} follows {writer}:{before} at {partition}/{offset}"
        last[partition, writer] = int(count)


def _create_topic(kafka: str) -> None:
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    admin.create_topics([NewTopic("t", num_partitions=PARTITIONS)])["t"].result(timeout=30)


def _change_profile(kafka: str, profile: Profile) -> None:
    """While it is written to. A broker that was killed just now does not answer: then it stays as it is."""
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 0})
    entry = ConfigEntry(PROFILE, profile.value, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ConfigResource.Type.TOPIC, "t", incremental_configs=[entry])
    with suppress(KafkaException):
        admin.incremental_alter_configs([resource], request_timeout=2.0)[resource].result(timeout=5)


def _read_all(kafka: str) -> dict[Place, str]:
    """Everything, from the first offset to the end that there is now."""
    consumer = Consumer({"bootstrap.servers": kafka, "group.id": "none", "enable.auto.commit": False, "log_level": 0})
    read: dict[Place, str] = {}
    try:
        ends = {p: consumer.get_watermark_offsets(TopicPartition("t", p), timeout=30)[1] for p in range(PARTITIONS)}
        consumer.assign([TopicPartition("t", partition, 0) for partition in range(PARTITIONS)])
        deadline = time.monotonic() + FINISH_SECONDS_MAX
        while len(read) < sum(ends.values()):
            assert time.monotonic() < deadline, f"read {len(read)} of {sum(ends.values())} records in time"
            for message in consumer.consume(1000, timeout=1.0):
                if message.error() is not None:
                    raise KafkaException(message.error())
                read[message.partition(), message.offset()] = message.value().decode()
    finally:
        consumer.close()
    return read


def _kill(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
