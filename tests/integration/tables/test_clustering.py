"""`main` is clustered while clients produce: every engine reads it, partitions prune, and consumers notice nothing.

The tasks run in this process. tests/integration/tables/test_rebuild.py runs them on Spark, in a whole `up`.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyiceberg.expressions import EqualTo
from pyspark.sql import SparkSession

from lakestream.broker.broker import BrokerLimits
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.live import consumed
from tests.integration.tables.stranger import Stranger, StreamOfMain, check_verify

PATIENCE_SECONDS = 60
USERS = 8
AT_ONCE = "lakestream.table.cluster-after"


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    # Nothing is kept in memory: what is no longer in the files cannot be served.
    limits = BrokerLimits(cache_bytes=0, table_cache_bytes=0, table_footer_bytes=0)
    with running_lake(tmp_path_factory.mktemp("lake"), limits=limits) as running:
        yield running


def clustered(lake: RunningLake) -> int:
    """The files that were clustered: it may be a second until it is the table's turn, and upkeep has time."""
    return until(lambda: lake.cluster().files)


def until(found: Callable[[], int]) -> int:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (count := found()):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return count


def orders(first: int, count: int) -> list[bytes]:
    return [b'{"user_id": %d, "sku": "sku-%d", "n": %d}' % (n % USERS, n % 3, n) for n in range(first, first + count)]


def test_main_is_clustered_beside_a_stream_and_consumers(
    spark: SparkSession, lake: RunningLake, tmp_path: Path
) -> None:
    layout = {
        "lakestream.value.format": "json",
        "lakestream.table.system-columns": "visible",
        "lakestream.table.partition-by": "bucket(4, user_id), truncate(4, sku)",
        "lakestream.table.sort-by": "n desc nulls last",
        AT_ONCE: "1s",
    }
    lake.create("orders", 2, layout)
    lake.produce("orders", orders(0, 60))
    lake.compact()
    stranger = Stranger(spark, lake, "orders")
    stream = StreamOfMain(stranger, tmp_path)
    stream.read_on()
    for first in (60, 120):
        lake.produce("orders", orders(first, 60))
        lake.compact()
        assert clustered(lake)
        stream.read_on()
    stream.stop()
    assert len(stream.seen) == len(set(stream.seen)) == 180
    files = stranger.sql("SELECT partition, file_path, sort_order_id FROM {t}.files")
    assert {file.sort_order_id for file in files} == {1}
    for file in files:
        numbers = [row.n for row in spark.read.parquet(file.file_path).select("n").collect()]
        assert numbers == sorted(numbers, reverse=True)
    with duckdb_on(lake.uri) as duckdb:
        asked = "SELECT count(*), count(DISTINCT (__partition, __offset)), sum(n) FROM lake.streams.orders"
        assert duckdb.sql(asked).fetchall() == [(180, 180, sum(range(180)))]
        own = duckdb.sql("SELECT count(*) FROM lake.streams.orders WHERE user_id = 3").fetchall()
        assert own == [(len([n for n in range(180) if n % USERS == 3]),)]
    table = pyiceberg_on(lake.uri).load_table("streams.orders")
    planned = list(table.scan(row_filter=EqualTo("user_id", 3)).plan_files())
    assert 0 < len(planned) < len(files), "buckets of other users are not planned"
    assert table.scan(row_filter=EqualTo("user_id", 3)).to_arrow().num_rows == own[0][0]
    assert len(consumed(lake.kafka, "orders", partitions=2, count=180)) == 180
    check_verify(lake, "orders")
    (told,) = [topic["table"] for topic in lake.json("status")["topics"] if topic["name"] == "orders"]
    on_main = sum(Path(file.file_path.removeprefix("file:")).stat().st_size for file in files)
    assert told["bytes_clustered"] == on_main and told["bytes_over_one_copy"] >= on_main
    assert "second copy, for good" in lake.command("status").stderr
    stranger.call("expire_snapshots", older_than="timestamp '2100-01-01'", retain_last="1")
    assert stranger.sql("SELECT count(*) FROM {t}")[0][0] == 180
    assert len(consumed(lake.kafka, "orders", partitions=2, count=180)) == 180


def test_a_table_of_create_table_is_clustered_as_it_says(spark: SparkSession, lake: RunningLake) -> None:
    stranger = Stranger(spark, lake, "visits")
    stranger.sql(
        f"CREATE TABLE {{t}} (page STRING, at BIGINT) PARTITIONED BY (page) TBLPROPERTIES ('{AT_ONCE}' = '1s')"
    )
    stranger.sql("ALTER TABLE {t} WRITE ORDERED BY at DESC")
    for first in (0, 10):
        lake.produce("visits", [b'{"page": "p%d", "at": %d}' % (n % 2, n) for n in range(first, first + 10)])
        lake.compact()
    stranger.sql("INSERT INTO {t} VALUES ('p1', 100), ('p2', 101)")
    assert clustered(lake) == 2, "the inserted rows are partitioned already"
    assert stranger.sql("SELECT count(*), count(DISTINCT page, at), sum(at) FROM {t}")[0] == (22, 22, 391)
    files = stranger.sql("SELECT partition.page, file_path FROM {t}.files WHERE record_count > 1 ORDER BY 1")
    assert [file.page for file in files] == ["p0", "p1"]
    for file in files:
        times = [row.at for row in spark.read.parquet(file.file_path).select("at").collect()]
        assert times == sorted(times, reverse=True)
    assert len(consumed(lake.kafka, "visits", partitions=1, count=22)) == 22
    check_verify(lake, "visits")


def test_a_strangers_delete_in_the_middle_of_a_clustering_wins(spark: SparkSession, lake: RunningLake) -> None:
    lake.create("raced", 1, {"lakestream.table.sort-by": "__key", AT_ONCE: "1s"})
    for number in range(3):
        lake.produce("raced", [b"value-%d" % (10 * number + at) for at in range(10)])
        lake.compact()
    stranger = Stranger(spark, lake, "raced")
    stranger.alter(**{"write.delete.mode": "merge-on-read"})

    def delete() -> None:
        stranger.sql("DELETE FROM {t} WHERE __offset = 15")

    until(lambda: int(stranger.sql("SELECT count(*) FROM {t}")[0][0] == 30))
    deadline = time.monotonic() + PATIENCE_SECONDS
    lake.moments.metadata_written = delete
    while lake.moments.metadata_written is not None:
        assert time.monotonic() < deadline
        lake.cluster()
        time.sleep(0.2)
    assert stranger.sql("SELECT count(*) FROM {t}")[0][0] == 29
    assert len(consumed(lake.kafka, "raced", partitions=1, count=30)) == 30
    check_verify(lake, "raced")
