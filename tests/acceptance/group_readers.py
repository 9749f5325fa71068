"""Members of a group that commit what they read, while their coordinator dies; and what must be true of them after."""

import threading
import time
from collections.abc import Callable

import confluent_kafka as ck
from confluent_kafka.admin import AdminClient

from lakestream.protocol.kafka.wire import messages
from tests.integration.kafka.wire_client import WireClient

TOPIC = "read"
GROUP = "survivors"
PARTITIONS = 4
SESSION_MS = 45_000
"""As it comes. A broker's lease is 5 s; the rest of what they take is the client's."""
PATIENCE_SECONDS = 60
PROMPT: dict[str, str | int] = {"reconnect.backoff.max.ms": 500}
"""librdkafka waits for up to 10 s before it tries again to reach a broker that it could not reach. A broker that was
killed and is started again under its name would be found late: the clients' own pause would be most of what is seen."""


UNHURRIED: dict[str, str | int] = {"retry.backoff.ms": 1_000, "retry.backoff.max.ms": 2_000}
"""A commit of librdkafka's that lost its coordinator is tried again after 0.1 s. If that is before the connection to
the coordinator is up, it fails, the coordinator is taken for dead and its connection is closed, and so on: one was seen
to go round like this for over a minute, beside a coordinator that answered everyone else; no heartbeat came through."""


class Reader:
    """A member that commits each record it has read, and remembers the greatest offset whose commit was answered."""

    def __init__(self, bootstrap: str, protocol: str) -> None:
        config: dict[str, str | int | bool] = {
            "bootstrap.servers": bootstrap,
            "group.id": GROUP,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "topic.metadata.refresh.interval.ms": 500,
            **PROMPT,
            **UNHURRIED,
        }
        if protocol == "classic":
            config["session.timeout.ms"] = SESSION_MS
        self._consumer = ck.Consumer(config)
        self.taken: list[str] = []
        """Every time that partitions were taken from it."""
        self._consumer.subscribe([TOPIC], on_revoke=self._taken, on_lost=self._taken)
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

    def _taken(self, _: ck.Consumer, partitions: list[ck.TopicPartition]) -> None:
        self.taken.append(f"{[each.partition for each in partitions]} after {len(self.read)} records")

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


def outlive(bootstrap: str, protocol: str, kill: Callable[[int], None], ask: Callable[[], str]) -> float:
    """Two members share a topic; `kill` kills the broker that coordinates them. They lose nothing: not their
    membership, no partition, no record, no commit that was answered. Returns after how many seconds commits were
    answered again.

    `ask` gives the address of a broker that is alive."""
    with WireClient(ask()) as client:
        client.create_topic(TOPIC, partitions=PARTITIONS)
    writer = ck.Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, **PROMPT})
    readers = [Reader(bootstrap, protocol) for _ in range(2)]
    try:
        write(writer, 10)
        until(lambda: shared(readers) and len(all_read(readers)) == 10 * PARTITIONS, readers)
        for reader in readers:
            reader.taken.clear()  # those by which they came to share the topic
        members = described_members(bootstrap)
        assert len(members) == len(readers)
        kill(coordinator_of_survivors(ask()))
        died_at = time.monotonic()
        write(writer, 10)
        until(lambda: len(all_read(readers)) == 20 * PARTITIONS and caught_up(readers), readers)
        seconds = time.monotonic() - died_at
        assert [reader.taken for reader in readers] == [[], []], "their coordinator's death is not theirs"
        described = described_members(bootstrap)
        assert described == members, (
            f"thrown out after {seconds:.1f} s: {members - described}, new: {described - members}"
        )
    finally:
        for reader in readers:
            reader.close()
    stored = stored_offsets(bootstrap)
    for reader in readers:
        for partition, offset in reader.committed.items():
            assert stored[partition] >= offset, "a commit that was answered is never lost"
    return seconds


def write(writer: ck.Producer, count: int) -> None:
    for _ in range(count):
        for partition in range(PARTITIONS):
            writer.produce(TOPIC, b"value", partition=partition)
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


def coordinator_of_survivors(address: str) -> int:
    with WireClient(address) as client:
        asked = messages.api(10).Request(key_type=0, coordinator_keys=[GROUP])
        [found] = client.call(10, 4, asked).coordinators
    return int(found.node_id)


def described_members(bootstrap: str) -> set[str]:
    """The ids of the group's members, as its coordinator tells a stranger."""
    admin = AdminClient({"bootstrap.servers": bootstrap, **PROMPT})
    described = admin.describe_consumer_groups([GROUP], request_timeout=PATIENCE_SECONDS)[GROUP].result()
    return {member.member_id for member in described.members}


def stored_offsets(bootstrap: str) -> dict[int, int]:
    """As a stranger reads them, with a client of its own; it asks again while the group moves back."""
    reader = ck.Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP, "enable.auto.commit": False})
    deadline = time.monotonic() + PATIENCE_SECONDS
    try:
        while True:
            try:
                asked = [ck.TopicPartition(TOPIC, partition) for partition in range(PARTITIONS)]
                return {each.partition: each.offset for each in reader.committed(asked, PATIENCE_SECONDS)}
            except ck.KafkaException:
                assert time.monotonic() < deadline, "offsets cannot be read"
                time.sleep(0.2)
    finally:
        reader.close()
