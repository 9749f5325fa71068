"""`retention.ms`: consumers, SQL and the disk all have less afterwards, and what is left is whole."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, TopicPartition
from pyspark.sql import SparkSession

from lakestream.storage.garbage.retention import apply_retention
from lakestream.world.ids import is_ulid
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.stranger import Stranger
from tests.integration.up_process import command

pytestmark = pytest.mark.usefixtures("spark")
"""Open before `verify`, which then uses it."""

PATIENCE_S = 30


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[RunningLake]:
    with running_lake(tmp_path, grace_ms=0) as running:
        yield running


def data_files(lake: RunningLake) -> set[Path]:
    return set(lake.objects.glob("tables/**/*.parquet"))


def job_folders(lake: RunningLake) -> set[Path]:
    return {path for path in lake.objects.glob("tables/*-log/*") if is_ulid(path.name)}


def read(lake: RunningLake, topic: str, count: int) -> list[tuple[int, bytes]]:
    """From the beginning, as the broker names it, in one partition."""
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "reader", "auto.offset.reset": "earliest"})
    try:
        low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=PATIENCE_S)
        assert high - low == count
        consumer.assign([TopicPartition(topic, 0, low)])
        found: list[tuple[int, bytes]] = []
        until = time.monotonic() + PATIENCE_S
        while len(found) < count and time.monotonic() < until:
            message = consumer.poll(1)
            if message is not None and message.error() is None:
                found.append((message.offset() or 0, message.value() or b""))
        return found
    finally:
        consumer.close()


def test_old_records_leave_the_log_the_table_and_the_disk(lake: RunningLake) -> None:
    lake.create("orders", 1)
    hour_ago_ms = int(time.time() * 1000) - 3_600_000
    lake.produce("orders", [b"old-%d" % at for at in range(300)], timestamp_ms=hour_ago_ms)
    lake.compact()
    old_files = data_files(lake)
    assert old_files
    lake.produce("orders", [b"new-%d" % at for at in range(100)])
    lake.compact()
    new_files = data_files(lake) - old_files

    altered = command("topic", "alter", "orders", "-c", "retention.ms=1800000", "--kafka", lake.kafka)
    assert altered.returncode == 0, altered.stderr
    lake.run(_retain(lake))
    lake.upkeep()

    assert read(lake, "orders", 100) == [(300 + at, b"new-%d" % at) for at in range(100)]
    for table in ("orders", "orders__log"):
        assert lake.json("sql", f"SELECT count(*) AS n, min(__offset) AS first FROM {table}") == [
            {"n": 100, "first": 300}
        ]
    lake.upkeep()
    assert data_files(lake) == new_files
    assert job_folders(lake) == {path.parent for path in new_files}, "a job's folder goes with the last of its files"
    done = lake.command("verify", "orders", "--json")
    found = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == 0, found
    assert (found["topics"][0]["records"], found["topics"][0]["rows"]) == (100, 100)
    [status] = lake.json("status")["topics"]
    assert (status["table"]["files"], status["table"]["lag_records"]) == (1, 0)
    assert status["table"]["last_commit_ms"] > 0

    lake.produce("orders", [b"newest"])
    lake.compact()
    assert lake.json("sql", "SELECT count(*) AS n FROM orders") == [{"n": 101}]


def test_a_table_keeps_its_rows_when_the_log_lets_go_and_is_still_the_same_as_its_topic(lake: RunningLake) -> None:
    lake.create("visits", 1)
    for part in (b"old", b"new"):
        lake.produce("visits", [b"%s-%d" % (part, at) for at in range(100)])
        lake.compact()
    altered = command("topic", "alter", "visits", "-c", "lakestream.table.retention.ms=-1", "--kafka", lake.kafka)
    assert altered.returncode == 0, altered.stderr
    [partition] = [one.partitions[0] for one in lake.run(lake.store.topics()).topics if one.name == "visits"]
    lake.run(lake.store.delete_records(partition, 100))
    for _ in range(2):
        lake.upkeep()
    counts = {
        table: lake.json("sql", f"SELECT count(*) AS n, min(__offset) AS first FROM {table}")
        for table in ("visits", "visits__log")
    }
    assert counts == {"visits": [{"n": 200, "first": 0}], "visits__log": [{"n": 100, "first": 100}]}
    assert read(lake, "visits", 100) == [(100 + at, b"new-%d" % at) for at in range(100)]
    done = lake.command("verify", "visits", "--json")
    assert done.returncode == 0, done.stdout
    [status] = lake.json("status")["topics"]
    assert status["table"]["bytes_kept_by_table"] > 0 and status["table"]["bytes_let_go"] == 0
    assert "that the log of visits does not have" in lake.command("status").stderr


def test_rows_that_an_engine_has_rewritten_leave_the_table_by_their_own_time(
    lake: RunningLake, spark: SparkSession
) -> None:
    lake.create("clicks", 1)
    hour_ago_ms = int(time.time() * 1000) - 3_600_000
    for part, time_ms in ((b"old", hour_ago_ms), (b"new", None)):
        lake.produce("clicks", [b"%s-%d" % (part, at) for at in range(50)], timestamp_ms=time_ms)
        lake.compact()
        sort = {"strategy": "'sort'", "sort_order": "'__key'", "options": "map('rewrite-all', 'true')"}
        stranger = Stranger(spark, lake, "clicks")
        (rewritten,) = stranger.call("rewrite_data_files", **sort, where="'__offset < 50'")
        assert rewritten.rewritten_data_files_count == 1
    altered = command("topic", "alter", "clicks", "-c", "lakestream.table.retention.ms=1800000", "--kafka", lake.kafka)
    assert altered.returncode == 0, altered.stderr
    lake.upkeep()
    counts = "SELECT count(*) AS n, min(__offset) AS first FROM "
    assert lake.json("sql", counts + "clicks") == [{"n": 50, "first": 50}]
    assert lake.json("sql", counts + "clicks__log") == [{"n": 100, "first": 0}]
    assert len(read(lake, "clicks", 100)) == 100
    advised = "CALL lake.system.rewrite_data_files(table => 'streams.clicks')"
    done = lake.command("sql", "--engine", "spark", advised)
    assert done.returncode == 0, done.stderr


async def _retain(lake: RunningLake) -> None:
    """What a broker does every half minute."""
    assert await apply_retention(lake.store, (await lake.store.topics()).topics) > 0
