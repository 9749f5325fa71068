"""Stock Spark does what it likes to the table of a live topic, and no Kafka read breaks.

A producer goes on all the time, compaction follows in between; afterwards consumers get every record equal, SQL sees
what the strangers did, a stream of `main` has seen every row once, and `verify` passes.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakestream.broker.broker import BrokerLimits
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import LiveProducer, Record, consumed
from tests.integration.tables.stranger import Stranger, StreamOfMain, check_verify, main_of

PARTITIONS = 2
TOUCHED = 200
"""Strangers change rows below this offset: which later ones are in the table when they do is a matter of luck."""
FOREIGN = 1_000_000
"""The offset of a row that a stranger adds to `main`."""


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    # Nothing is kept in memory: what is no longer in the files cannot be served.
    limits = BrokerLimits(cache_bytes=0, table_cache_bytes=0, table_footer_bytes=0)
    with running_lake(tmp_path_factory.mktemp("lake"), limits=limits) as running:
        yield running


@pytest.mark.parametrize(("version", "mode"), [("2", "copy-on-write"), ("3", "merge-on-read")])
def test_strangers_do_what_they_like_to_main_and_no_read_breaks(
    spark: SparkSession, lake: RunningLake, tmp_path: Path, version: str, mode: str
) -> None:
    topic = f"live_{version}"
    lake.create(topic, PARTITIONS)
    lake.round()  # and there is a table
    stranger = Stranger(spark, lake, topic)
    stranger.alter(
        **{"format-version": version, **{f"write.{kind}.mode": mode for kind in ("delete", "update", "merge")}}
    )
    stream = StreamOfMain(stranger, tmp_path)
    with LiveProducer(lake.kafka, topic, partitions=PARTITIONS) as producer:
        producer.wait_for((TOUCHED + 100) * PARTITIONS)
        lake.round()
        stream.read_on()
        do_what_strangers_do(stranger, stream, producer)
    lake.compact()
    produced = producer.records()
    assert consumed(lake.kafka, topic, partitions=PARTITIONS, count=len(produced)) == produced
    assert main_of(lake, topic) == changed_by_strangers(produced)
    stream.read_on()
    stream.stop()
    assert sorted(stream.seen) == [(record.partition, record.offset) for record in produced]
    check_verify(lake, topic)
    survive_dangers(stranger)
    assert consumed(lake.kafka, topic, partitions=PARTITIONS, count=len(produced)) == produced
    check_verify(lake, topic)


def do_what_strangers_do(stranger: Stranger, stream: StreamOfMain, producer: LiveProducer) -> None:
    lake = stranger.lake

    def go_on() -> None:
        producer.wait_for(20)
        assert lake.round().committed == 1

    stranger.sql(f"DELETE FROM {{t}} WHERE __offset < {TOUCHED} AND __offset % 10 = 0")
    go_on()
    _rewrite(stranger, "__key DESC NULLS LAST, __offset")
    go_on()
    lake.moments.stranger_commits = go_on  # rows arrive between the plan of the UPDATE and its commit
    stranger.sql(
        f"UPDATE {{t}} SET __value = CAST('updated' AS BINARY) WHERE __offset < {TOUCHED} AND __offset % 10 = 1"
    )
    assert lake.moments.stranger_commits is None
    go_on()
    stranger.sql(
        f"""MERGE INTO {{t}} AS t USING (
                SELECT __partition AS p, __offset AS o FROM {{t}}
                WHERE __offset < {TOUCHED} AND __offset % 10 IN (2, 3) UNION ALL SELECT 0, {FOREIGN}
            ) AS s ON t.__partition = s.p AND t.__offset = s.o
            WHEN MATCHED AND s.o % 10 = 2 THEN DELETE
            WHEN MATCHED THEN UPDATE SET __value = CAST('merged' AS BINARY)
            WHEN NOT MATCHED THEN
                INSERT (__partition, __offset, __value) VALUES (s.p, s.o, CAST('foreign' AS BINARY))"""
    )
    go_on()
    lake.moments.stranger_commits = go_on
    _rewrite(stranger, "zorder(__partition, __offset)")
    assert lake.moments.stranger_commits is None
    go_on()
    stranger.call("rewrite_manifests")
    go_on()
    stream.read_on()
    stranger.call("expire_snapshots", older_than="timestamp '2100-01-01'", retain_last="1")
    assert stranger.sql("SELECT count(*) FROM {t}.snapshots")[0][0] == 2  # one for each branch
    go_on()
    assert stranger.call("remove_orphan_files") == []  # nothing is three days old
    assert "stray.parquet" in stranger.remove_orphans()
    go_on()


def _rewrite(stranger: Stranger, order: str) -> None:
    (done,) = stranger.call(
        "rewrite_data_files", strategy="'sort'", sort_order=f"'{order}'", options="map('rewrite-all', 'true')"
    )
    assert done.rewritten_data_files_count > 0


def changed_by_strangers(produced: list[Record]) -> dict[tuple[int, int], str | None]:
    """What the statements above make of what was produced."""
    found: dict[tuple[int, int], str | None] = {(0, FOREIGN): "foreign"}
    for record in produced:
        digit = record.offset % 10 if record.offset < TOUCHED else None
        if digit not in (0, 2):
            own = None if record.value is None else record.value.decode()
            found[record.partition, record.offset] = {1: "updated", 3: "merged"}.get(digit or 0, own)
    return found


def survive_dangers(stranger: Stranger) -> None:
    """What was measured to break tables elsewhere: refused, or harmless."""
    for harmful, reason in [
        ("DROP TABLE {t} PURGE", "topic delete"),
        ("DROP TABLE {t}__log PURGE", "GC is disabled"),
        ("CREATE OR REPLACE TABLE {t} USING iceberg AS SELECT 1 AS a", "refused"),
        ("ALTER TABLE {t} DROP BRANCH log", "Kafka"),
        ("INSERT INTO {t} (__offset) VALUES (1)", "producing"),
    ]:
        with pytest.raises(Exception, match=reason):
            stranger.sql(harmful)
            pytest.fail(f"not refused: {harmful}")
    stranger.alter(
        **{
            "history.expire.max-ref-age-ms": "1",
            "history.expire.max-snapshot-age-ms": "1",
            "history.expire.min-snapshots-to-keep": "1",
        }
    )
    stranger.sql("DELETE FROM {t}")  # from here on the log's files are on `log` alone
    stranger.call("expire_snapshots")
    stranger.expire_in_java()
    assert stranger.heads().keys() == {"main", "log"}
    assert "stray.parquet" in stranger.remove_orphans()
    assert main_of(stranger.lake, stranger.topic) == {}
