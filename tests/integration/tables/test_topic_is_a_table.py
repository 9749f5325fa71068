"""`lakestream up` with its pipeline, as a user runs it: what a client produces is a table, and the table is a topic."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from lakestream.cli.gateway_client import ask_gateway
from lakestream.cli.java import missing_java
from lakestream.cli.sql_duckdb import ask_duckdb
from lakestream.settings.address import parse_address
from tests.integration.up_process import Up

pytestmark = pytest.mark.skipif(missing_java() is not None, reason=str(missing_java()))

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
PARTITIONS = 3
SECONDS_MAX = 120

Record = tuple[int, int, Any, Any, Any, int]
"""partition, offset, key, value, headers, timestamp"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    flags = ("--set", "wal.grace_ms=500")
    with Up(tmp_path_factory.mktemp("tables") / "data", *flags, pipeline=True) as running:
        yield running
        assert running.stop() == 0


def produce(up: Up, topic: str, count: int, *, codec: str = "none", first: int = 0) -> None:
    """Records of every shape: with and without key, value and headers; acknowledged when this returns."""
    producer = Producer({"bootstrap.servers": up.kafka, "compression.type": codec, "linger.ms": 5})
    for number in range(first, first + count):
        producer.produce(
            topic,
            key=None if number % 7 == 3 else b"key-%d" % (number % 50),
            value=None if number % 11 == 5 else b'{"number": %d, "note": "%s"}' % (number, b"x" * (number % 90)),
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
        for message in consumer.consume(1_000, 0.5):
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


def wait_for(what: Callable[[], bool], why: str) -> None:
    deadline = time.monotonic() + SECONDS_MAX
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.3)


def wal_objects(up: Up) -> list[Path]:
    return [file for file in (up.data / "objects" / "wal").rglob("*") if file.is_file()]


def test_every_record_is_a_row_and_reads_back_equal_in_every_part(up: Up) -> None:
    up.run("topic", "create", "orders", "--partitions", str(PARTITIONS))
    for number, codec in enumerate(CODECS):
        produce(up, "orders", 300, codec=codec, first=300 * number)
    count = 300 * len(CODECS)
    from_log = consume(up, "orders", count)
    assert len(from_log) == count
    up.run("compact", "orders")
    assert consume(up, "orders", count) == from_log
    assert rows(up, "orders") == from_log
    produce(up, "orders", 100, first=count)
    across = consume(up, "orders", count + 100)  # from the table into the log
    assert len(across) == count + 100
    assert [record for record in across if record in from_log] == from_log
    up.run("compact", "orders")
    assert rows(up, "orders") == across
    assert rows(up, "orders__log") == across


def test_tables_follow_by_themselves(up: Up) -> None:
    up.run("topic", "create", "fresh", "--partitions", str(PARTITIONS))
    produce(up, "fresh", 30)

    def is_tabled() -> bool:
        (topic,) = [one for one in up.status()["topics"] if one["name"] == "fresh"]
        return all(part["tabled_until"] == part["next_offset"] for part in topic["partitions"])

    wait_for(is_tabled, "nothing was compacted though the topic was due")
    assert len(rows(up, "fresh")) == 30


def test_a_pipeline_that_is_killed_in_its_work_loses_and_doubles_nothing(up: Up) -> None:
    up.run("topic", "create", "killed", "--partitions", str(PARTITIONS))
    produce(up, "killed", 3_000)
    for number in (1, 2):
        wait_for(lambda starts=number: up.said().count("pipeline ready") >= starts, "the pipeline did not come back")
        produce(up, "killed", 1_000, first=2_000 + 1_000 * number)
        ask_gateway(parse_address(up.http), "/admin/compact", {"topics": ["killed"]})
        time.sleep(0.4 * number)
        os.kill(up.children()["pipeline"], signal.SIGKILL)
    up.run("compact", "killed")
    from_topic = consume(up, "killed", 5_000)
    assert len(from_topic) == 5_000
    assert rows(up, "killed") == from_topic


def test_workers_that_are_killed_are_replaced_and_the_round_goes_on(up: Up) -> None:
    up.run("topic", "create", "worked", "--partitions", str(PARTITIONS))
    wait_for(lambda: up.said().count("pipeline ready") >= 3, "the pipeline did not come back")
    produce(up, "worked", 30_000)
    starts = up.said().count("pipeline ready")
    ask_gateway(parse_address(up.http), "/admin/compact", {"topics": ["worked"]})
    for _ in range(3):
        time.sleep(0.2)
        for worker in workers_of(up.children()["pipeline"]):
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    up.run("compact", "worked")
    assert up.said().count("pipeline ready") == starts, "the pipeline itself was not to end"
    from_topic = consume(up, "worked", 30_000)
    assert len(from_topic) == 30_000
    assert rows(up, "worked") == from_topic


def workers_of(pipeline: int) -> list[int]:
    """Python workers that Spark's daemon has forked: pipeline -> Java -> daemon -> worker."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdecimal():
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])

    def children(of: set[int]) -> set[int]:
        return {child for child, parent in parents.items() if parent in of}

    return sorted(children(children(children({pipeline}))))


def test_once_compacted_the_wal_is_gone_and_one_copy_stays(up: Up) -> None:
    up.run("compact")
    wait_for(lambda: not wal_objects(up), "WAL objects are still there long after their grace")
    for topic, count in (("orders", 1_600), ("fresh", 30), ("killed", 5_000), ("worked", 30_000)):
        from_table = consume(up, topic, count)
        assert len(from_table) == count
        assert rows(up, topic) == from_table
