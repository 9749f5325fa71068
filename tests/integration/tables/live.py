"""A producer that goes on while other things happen, what it was told, and a consumer that reads everything back."""

import threading
import time
from types import TracebackType
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

SECONDS_MAX = 60
_BURST = 10
_PAUSE_SECONDS = 0.02
_LOOK_SECONDS = 0.05
"""For so long a client gathers records before it hands them over, unless it has all that were asked for."""
_CODECS = ("none", "lz4", "zstd")


class Record(NamedTuple):
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    timestamp_ms: int


class LiveProducer:
    """Records of every shape to every partition, a few at a time, until the block ends."""

    def __init__(self, kafka: str, topic: str, *, partitions: int) -> None:
        self._topic = topic
        self._partitions = partitions
        self._producers = [
            Producer({"bootstrap.servers": kafka, "linger.ms": 2, "compression.type": codec, "acks": "all"})
            for codec in _CODECS
        ]
        self._told: dict[tuple[int, int], Record] = {}
        self._failed: list[KafkaError] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def __enter__(self) -> "LiveProducer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(SECONDS_MAX)
        left = [producer.flush(SECONDS_MAX) for producer in self._producers]
        if kind is None:
            assert not any(left) and not self._failed, self._failed

    def wait_for(self, records: int) -> None:
        """Until so many more have been acknowledged."""
        wanted, deadline = len(self._told) + records, time.monotonic() + SECONDS_MAX
        while len(self._told) < wanted:
            assert time.monotonic() < deadline, self._failed
            time.sleep(0.01)

    def records(self) -> list[Record]:
        """Everything that was acknowledged, by partition and offset."""
        return sorted(self._told.values())

    def _go_on(self) -> None:
        number = 0
        while not self._stop.wait(_PAUSE_SECONDS):
            producer = self._producers[number // _BURST % len(self._producers)]
            for _ in range(_BURST):
                self._produce(producer, number)
                number += 1
            for each in self._producers:
                each.poll(0)

    def _produce(self, producer: Producer, number: int) -> None:
        key = None if number % 7 == 3 else b"key-%d" % (number % 50)
        value = None if number % 11 == 5 else b"value-%d-%s" % (number, b"x" * (number % 90))
        headers: list[Any] = [("source", b"test"), ("none", None)] if number % 4 == 0 else []

        def told(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                self._failed.append(error)
                return
            partition, offset = message.partition(), message.offset()
            assert partition is not None and offset is not None
            assert (partition, offset) not in self._told, "two records at one offset"
            self._told[partition, offset] = Record(
                partition, offset, key, value, tuple(headers), message.timestamp()[1]
            )

        partition = number % self._partitions
        producer.produce(self._topic, key=key, value=value, headers=headers, partition=partition, on_delivery=told)


def consumed(kafka: str, topic: str, *, partitions: int, count: int) -> list[Record]:
    """Everything from offset 0 on, by partition and offset; at least `count`, and on to the end of each partition."""
    settings = {
        "group.id": "r",
        "enable.auto.commit": False,
        "check.crcs": True,
        "enable.partition.eof": True,
        "fetch.wait.max.ms": 20,
    }
    consumer = Consumer({"bootstrap.servers": kafka, **settings})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    found: list[Record] = []
    at_end: set[int | None] = set()
    deadline = time.monotonic() + SECONDS_MAX
    while (len(at_end) < partitions or len(found) < count) and time.monotonic() < deadline:
        for message in consumer.consume(1_000, _LOOK_SECONDS):
            error = message.error()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                at_end.add(message.partition())
            else:
                at_end.discard(message.partition())
                found.append(_record(message))
    consumer.close()
    return sorted(found)


def _record(message: Message) -> Record:
    assert message.error() is None, message.error()
    partition, offset = message.partition(), message.offset()
    assert partition is not None and offset is not None
    headers = tuple((key, value) for key, value in message.headers() or [])
    return Record(partition, offset, message.key(), message.value(), headers, message.timestamp()[1])
