"""The records that every way into the table gets: the same keys and values in the same partitions.

    wal_batches()     as record batches, for WAL segments that a broker would have written
    load(bootstrap)   through a producer, into a topic of any broker

A quarter of a million different records follow each other again and again: far more than any row group holds.
"""

from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
from confluent_kafka import Producer

from benchmarks.clients import RoundFailed, create_topic
from benchmarks.values import order_values
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec

PARTITIONS = 8
BATCH_RECORDS = 4_000
DISTINCT_BATCHES = 64
NOW_MS = 1_763_000_000_000
DRAIN_S_MAX = 120


def batches_of(records: int) -> int:
    return -(-records // BATCH_RECORDS)


def partition_of(batch: int) -> int:
    return batch % PARTITIONS


class OrderRecords:
    """Made once, since making them takes longer than most rounds."""

    def __init__(self, value_bytes: int, convert: Callable[[list[bytes]], list[bytes]] = list) -> None:
        """`value_bytes` is their size as JSON, before `convert`."""
        self.value_bytes = value_bytes
        values = convert(order_values(DISTINCT_BATCHES * BATCH_RECORDS, value_bytes))
        self._values = [values[at : at + BATCH_RECORDS] for at in range(0, len(values), BATCH_RECORDS)]
        self._keys = [b"key-%06d" % (at * 7919 % 100_000) for at in range(BATCH_RECORDS)]
        self._encoded = [self._encode(values) for values in self._values]

    def wal_batches(self, records: int) -> Iterator[tuple[int, bytes]]:
        """Each with the number of its partition."""
        for batch in range(batches_of(records)):
            yield partition_of(batch), self._encoded[batch % DISTINCT_BATCHES]

    def log_bytes(self, records: int, codec: Codec) -> int:
        """Of the batches, compressed as a producer does."""
        sizes = [len(self._encode(values, codec)) for values in self._values]
        return sum(sizes[batch % DISTINCT_BATCHES] for batch in range(batches_of(records)))

    def load(self, bootstrap: str, topic: str, records: int) -> None:
        """Creates the topic and fills it."""
        create_topic(bootstrap, topic, PARTITIONS)
        producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "acks": "all",
                "linger.ms": 5,
                "batch.size": 1 << 20,
                "batch.num.messages": BATCH_RECORDS,
                "queue.buffering.max.messages": 200_000,
                "delivery.report.only.error": True,
            }
        )
        for batch in range(batches_of(records)):
            self._produce(producer, topic, batch)
        if left := producer.flush(DRAIN_S_MAX):
            raise RoundFailed(f"{left} records were not acknowledged while {topic} was filled")

    def _produce(self, producer: Producer, topic: str, batch: int) -> None:
        values = self._values[batch % DISTINCT_BATCHES]
        left = [{"key": key, "value": value} for key, value in zip(self._keys, values, strict=True)]
        while left:  # what does not fit into the queue waits
            taken = producer.produce_batch(topic, left, partition_of(batch))
            left = left[taken:]
            producer.poll(0.02 if left else 0)

    def _encode(self, values: list[bytes], codec: Codec = Codec.NONE) -> bytes:
        rows = pa.record_batch(
            [
                pa.array(np.arange(BATCH_RECORDS)),
                pa.array(NOW_MS + np.arange(BATCH_RECORDS) // 10),
                pa.array(self._keys, pa.binary()),
                pa.array(values, pa.binary()),
                pa.array([[]] * BATCH_RECORDS, SCHEMA.field("headers").type),
            ],
            schema=SCHEMA,
        )
        (batch,) = encode_batches(rows, batch_bytes_max=1 << 30, codec=codec)
        return bytes(batch)
