"""Iceberg's own stream of a topic's table sees every row once, whatever happens to the files behind it.

In a long run (`make soak`) this goes on for half an hour; LAKESTREAM_SOAK_MINUTES says for how long instead.
"""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakestream.model.topic import Topic
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import LiveProducer
from tests.integration.tables.stranger import Stranger, StreamOfMain, check_verify

PARTITIONS = 2
TURNS = 8
TURNS_MAX = 40
"""Whether there is something to merge depends on the sizes of the files, and so on luck."""
MINUTES = float(os.environ.get("LAKESTREAM_SOAK_MINUTES") or (30 if os.environ.get("LAKESTREAM_SOAK") else 0))
RECORDS = 20
"""Of each turn, at least."""
KEPT = RECORDS
"""Records of a partition that retention leaves in the log."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("stock"), grace_ms=1_000) as running:
        yield running


def test_a_stock_stream_sees_every_row_once_through_compaction_merging_clustering_and_retention(
    spark: SparkSession, lake: RunningLake, tmp_path: Path
) -> None:
    lake.create("stock", PARTITIONS)
    lake.round()
    (topic,) = [one for one in lake.run(lake.store.topics()).topics if one.name == "stock"]
    stranger = Stranger(spark, lake, "stock")
    stream = StreamOfMain(stranger, tmp_path)
    merged, turn, ends_at = 0, 0, time.monotonic() + 60 * MINUTES
    with LiveProducer(lake.kafka, "stock", partitions=PARTITIONS) as producer:
        while turn < TURNS or time.monotonic() < ends_at or (not merged and turn < TURNS_MAX):
            producer.wait_for(RECORDS)
            lake.round()
            merged += lake.merge().files
            if turn % TURNS == TURNS - 2:
                stranger.call("rewrite_data_files", strategy="'sort'", sort_order="'__key, __offset'")
            if turn % TURNS == TURNS - 1:
                stream.read_on()  # what it has not seen, retention may take from it
                let_go(lake, topic, stream)
            turn += 1
    lake.compact()
    stream.read_on()
    stream.stop()
    produced = [(record.partition, record.offset) for record in producer.records()]
    assert len(stream.seen) == len(set(stream.seen)), "a row twice"
    assert sorted(stream.seen) == produced
    assert merged, "files were merged meanwhile"
    operations = {row.operation for row in stranger.sql("SELECT operation FROM {t}.snapshots")}
    assert {"append", "replace"} <= operations
    left = [lake.run(lake.store.tails([partition]))[partition].tail.log_start for partition in topic.partitions]
    assert all(left), "retention has taken records"
    check_verify(lake, "stock")


def let_go(lake: RunningLake, topic: Topic, stream: StreamOfMain) -> None:
    """Retention takes what the stream has seen, but for the newest records, and what is left behind is swept up."""
    for number, partition in enumerate(topic.partitions):
        seen = max(offset for which, offset in stream.seen if which == number)
        lake.run(lake.store.delete_records(partition, max(0, seen - KEPT)))
    lake.upkeep()
    lake.sweep()
