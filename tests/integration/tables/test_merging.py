"""Small files are merged while clients produce and engines ask: nobody notices, and `verify` passes.

The tasks run on Spark here, as in the pipeline process.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from lakestream.broker.broker import BrokerLimits
from lakestream.table.spark.rewriter import SparkRewriter
from lakestream.world.threads import ThreadPool
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import LiveProducer, consumed
from tests.integration.tables.stranger import Stranger, StreamOfMain, check_verify, main_of

PARTITIONS = 2
ROUNDS_MAX = 30


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    # Nothing is kept in memory: what is no longer in the files cannot be served.
    limits = BrokerLimits(cache_bytes=0, table_cache_bytes=0, table_footer_bytes=0)
    waiting = ThreadPool(1, "spark")
    folder = tmp_path_factory.mktemp("lake")
    with running_lake(folder, limits=limits, rewriter=SparkRewriter(spark, waiting)) as running:
        yield running
    waiting.close()


def files_of(lake: RunningLake, topic: str) -> list[str]:
    uses = [
        lake.run(lake.store.jobs.file_uses(one.id)) for one in lake.run(lake.store.topics()).topics if one.name == topic
    ]
    return [use.file for use in uses[0]]


def merged_after_a_round(lake: RunningLake, producer: LiveProducer) -> bool:
    """Whether there was something to merge: that depends on the sizes of the files, and so on luck."""
    producer.wait_for(20)
    lake.round()
    return lake.merge().files > 0


def test_files_are_merged_beside_a_live_producer_and_nobody_notices(
    spark: SparkSession, lake: RunningLake, tmp_path: Path
) -> None:
    lake.create("steady", PARTITIONS)
    lake.round()
    stranger = Stranger(spark, lake, "steady")
    stream = StreamOfMain(stranger, tmp_path)
    with LiveProducer(lake.kafka, "steady", partitions=PARTITIONS) as producer:
        for _ in range(3):
            assert any(merged_after_a_round(lake, producer) for _ in range(ROUNDS_MAX))
            stream.read_on()
    lake.compact()
    produced = producer.records()
    assert consumed(lake.kafka, "steady", partitions=PARTITIONS, count=len(produced)) == produced
    stream.read_on()
    stream.stop()
    assert sorted(stream.seen) == [(record.partition, record.offset) for record in produced]
    with duckdb_on(lake.uri) as duckdb:
        asked = duckdb.sql("SELECT count(*), count(DISTINCT (__partition, __offset)) FROM lake.streams.steady")
        assert asked.fetchall() == [(len(produced), len(produced))]
    assert pyiceberg_on(lake.uri).load_table("streams.steady").scan().count() == len(produced)
    assert len(main_of(lake, "steady")) == len(produced)
    check_verify(lake, "steady")
    stranger.call("expire_snapshots", older_than="timestamp '2100-01-01'", retain_last="1")
    assert consumed(lake.kafka, "steady", partitions=PARTITIONS, count=len(produced)) == produced
    check_verify(lake, "steady")


def test_files_with_deleted_rows_stay_as_they_are(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("deletes", 1)
    for number in range(8):
        lake.produce("deletes", [b"value-%d" % (10 * number + at) for at in range(10)])
        lake.compact()
    stranger = Stranger(spark, lake, "deletes")
    stranger.alter(**{"write.delete.mode": "merge-on-read"})
    stranger.sql("DELETE FROM {t} WHERE __offset = 75")
    (deletes,) = stranger.sql("SELECT count(*) FROM {t}.delete_files")
    assert deletes[0] == 1
    files = files_of(lake, "deletes")
    lake.merge()
    assert files_of(lake, "deletes")[1:] == files[7:]
    assert len(main_of(lake, "deletes")) == 79
    assert len(consumed(lake.kafka, "deletes", partitions=1, count=80)) == 80
    check_verify(lake, "deletes")


def test_a_strangers_rewrite_in_the_middle_of_a_merge_wins_and_nothing_is_lost(
    spark: SparkSession, lake: RunningLake
) -> None:
    lake.create("raced", 1)
    for number in range(5):
        lake.produce("raced", [b"value-%d" % (10 * number + at) for at in range(10)])
        lake.compact()
    stranger = Stranger(spark, lake, "raced")

    def rewrite() -> None:
        (done,) = stranger.call("rewrite_data_files", options="map('rewrite-all', 'true')")
        assert done.rewritten_data_files_count == 5

    lake.moments.metadata_written = rewrite
    assert lake.merge().files == 5  # on `log` alone: `main` has files of its own by now
    assert lake.moments.metadata_written is None
    assert stranger.sql("SELECT count(*) FROM {t}.files")[0][0] == 1
    assert len(files_of(lake, "raced")) == 1
    assert stranger.sql("SELECT file_path FROM {t}.files")[0][0] not in files_of(lake, "raced")
    assert len(main_of(lake, "raced")) == 50
    assert len(consumed(lake.kafka, "raced", partitions=1, count=50)) == 50
    check_verify(lake, "raced")
