"""Real processes, `kill -9` of brokers: what a transactional copier writes and the offsets that it reads from agree.

input -> copiers: read, write to two topics, commit with the offsets -> brokers and copiers are killed meanwhile
-> each topic has each record of the input once, and nothing else
"""

import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.integration.test_kill import running

SOAK = bool(os.environ.get("LAKESTREAM_SOAK"))
KILLS = 60 if SOAK else 6
RECORDS = 20_000 if SOAK else 600
PARTITIONS = 2
BATCH = 20
SECONDS_MAX = 120.0
IN, OUT = "in", ("out-1", "out-2")


class Copier:
    """Copies one partition, in transactions. After any error it begins again as a new process would."""

    def __init__(self, bootstrap: str, partition: int, seed: int) -> None:
        self.transactions = 0
        self.starts = 0
        self._bootstrap = bootstrap
        self._partition = partition
        self._rng = random.Random(seed)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"copier-{partition}", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        self._stop.set()
        self._thread.join(SECONDS_MAX)
        assert not self._thread.is_alive(), "the copier did not come to an end"

    def _run(self) -> None:
        while not self._stop.is_set():
            self.starts += 1
            try:
                self._live()
            except KafkaException:
                time.sleep(0.2)

    def _live(self) -> None:
        common = {"bootstrap.servers": self._bootstrap, "socket.timeout.ms": 5_000, "log_level": 0}
        producer = Producer(
            {**common, "transactional.id": f"copier-{self._partition}", "transaction.timeout.ms": 10_000}
        )
        producer.init_transactions(20)
        consumer = Consumer(
            {
                **common,
                "group.id": f"copy-{self._partition}",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
            }
        )
        try:
            consumer.assign([TopicPartition(IN, self._partition)])
            while not self._stop.is_set() and self._rng.random() > 0.05:
                self._copy(producer, consumer)
        finally:
            consumer.close()

    def _copy(self, producer: Producer, consumer: Consumer) -> None:
        found = [one for one in consumer.consume(BATCH, 0.5) if one.error() is None]
        if not found:
            return
        producer.begin_transaction()
        for message in found:
            for topic in OUT:
                producer.produce(topic, message.value(), partition=self._partition)
        offsets = [TopicPartition(IN, self._partition, found[-1].offset() + 1)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 20)
        if self._rng.random() < 0.2:
            producer.abort_transaction(20)
            raise KafkaException("its position is behind what it aborted: begin again")
        producer.commit_transaction(20)
        self.transactions += 1


def committed(bootstrap: str, topic: str) -> Counter[str]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "reader",
            "isolation.level": "read_committed",
            "enable.auto.commit": False,
            "log_level": 0,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    seen: Counter[str] = Counter()
    quiet_until = time.monotonic() + 3.0
    try:
        while time.monotonic() < quiet_until:
            for message in consumer.consume(500, 0.5):
                if message.error() is None:
                    seen[(message.value() or b"").decode()] += 1
                    quiet_until = time.monotonic() + 3.0
        return seen
    finally:
        consumer.close()


def test_every_record_is_copied_once_through_kills_of_brokers(tmp_path: Path) -> None:
    rng = random.Random(11)
    with running(tmp_path / "data") as lakestream:
        bootstrap = str(lakestream.kafka)
        admin = AdminClient({"bootstrap.servers": bootstrap})
        for created in admin.create_topics([NewTopic(name, PARTITIONS) for name in (IN, *OUT)]).values():
            created.result(60)
        source = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True})
        expected = Counter(f"record {number}" for number in range(RECORDS))
        for number, value in enumerate(expected):
            source.produce(IN, value, partition=number % PARTITIONS)
        assert source.flush(60) == 0
        copiers = [Copier(bootstrap, partition, partition) for partition in range(PARTITIONS)]
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.2, 1.2))
            lakestream.kill_a_broker(rng)
        deadline = time.monotonic() + SECONDS_MAX
        while any(committed(bootstrap, topic) != expected for topic in OUT):
            assert time.monotonic() < deadline, [
                (topic, (expected - seen).total(), (seen - expected).total())
                for topic in OUT
                for seen in [committed(bootstrap, topic)]
            ]
        for copier in copiers:
            copier.finish()
        assert all(committed(bootstrap, topic) == expected for topic in OUT), "nothing was added at last"
        assert lakestream.brokers_killed
