"""Topics of a running `lakestream up`: records of every shape go in, and come back from the log and from the table."""

import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from lakestream.cli.engines.sql_duckdb import ask_duckdb
from tests.integration.up_process import Up

PARTITIONS = 3
SECONDS_MAX = 120
SHORT_LEASE = ("--set", "pipeline.lease_ms=5000")
"""A pipeline is back before a dead one's lease has run out otherwise, and waits."""

Record = tuple[int, int, Any, Any, Any, int]
"""partition, offset, key, value, headers, timestamp"""


def produce(up: Up, topic: str, count: int, *, codec: str = "none", first: int = 0) -> None:
    """Records of every shape, with and without key, value and headers, acknowledged when this returns. Values are no
    JSON: such topics stay raw, and every record is a row of `main`."""
    producer = Producer({"bootstrap.servers": up.kafka, "compression.type": codec, "linger.ms": 5})
    for number in range(first, first + count):
        producer.produce(
            topic,
            key=None if number % 7 == 3 else b"key-%d" % (number % 50),
            value=None if number % 11 == 5 else b"number %d, note %s" % (number, b"x" * (number % 90)),
            headers=[("source", b"test"), ("none", None)] if number % 4 == 0 else None,
            partition=number % PARTITIONS,
        )
        producer.poll(0)
    assert producer.flush(60) == 0


def consume(up: Up, topic: str, count: int) -> list[Record]:
    """From offset 0 of every partition on, by partition and offset."""
    consumer = Consumer(
        {"bootstrap.servers": up.kafka, "group.id": "reader", "enable.auto.commit": False, "check.crcs": True}
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    records: list[Record] = []
    deadline = time.monotonic() + SECONDS_MAX
    while len(records) < count and time.monotonic() < deadline:
        for message in consumer.consume(1_000, 0.05):
            assert message.error() is None, message.error()
            headers = [tuple(header) for header in message.headers() or []]
            records.append(
                (
                    message.partition(),
                    message.offset(),
                    message.key(),
                    message.value(),
                    headers,
                    message.timestamp()[1],
                )
            )
    consumer.close()
    return sorted(records, key=lambda record: record[:2])


def rows(up: Up, table: str) -> list[Record]:
    """What DuckDB finds in the table, through the catalog."""
    query = (
        "SELECT __partition, __offset, __key, __value, __headers, epoch_ms(__timestamp) "
        f"FROM {table} ORDER BY __partition, __offset"
    )
    found = []
    with ask_duckdb(f"http://{up.http}/iceberg", query) as answer:
        for partition, offset, key, value, headers, timestamp in map(dict.values, answer.read_all().to_pylist()):
            pairs = [(header["key"], header["value"]) for header in headers or []]
            found.append((partition, offset, key, value, pairs, timestamp))
    return found


def wait_for(what: Callable[[], bool], why: str, *, seconds: int = SECONDS_MAX) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.1)
