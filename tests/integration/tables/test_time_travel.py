"""Looking back: an hourly tag is read by name or snapshot in every engine, also after a stranger's expiry."""

from pathlib import Path

from pyspark.sql import SparkSession

from lakestream.catalog.topic.hourly_tags import HOUR_MS, tag_name
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import running_lake
from tests.integration.tables.stranger import Stranger, check_verify


def test_an_hourly_tag_is_read_by_every_engine_and_survives_a_strangers_expiry(
    spark: SparkSession, tmp_path: Path
) -> None:
    with running_lake(tmp_path) as lake:
        stranger = Stranger(spark, lake, "orders")
        lake.pipelines_clock.ahead_ms = -HOUR_MS
        lake.produce("orders", [b"%d" % at for at in range(10)])
        lake.compact()
        lake.pipelines_clock.ahead_ms = 0
        tag = tag_name(lake.pipelines_clock.wall_ms())
        lake.produce("orders", [b"more"] * 5)
        lake.compact()
        stranger.sql("DELETE FROM {t} WHERE __offset = 3")
        assert set(stranger.heads()) == {"main", "log", tag}
        stranger.call("expire_snapshots", retain_last="1", older_than="TIMESTAMP '2100-01-01 00:00:00'")

        snapshot = stranger.heads()[tag]
        by_spark = stranger.sql(f"SELECT count(*) AS n FROM {{t}} VERSION AS OF '{tag}'")[0].n
        table = pyiceberg_on(lake.uri).load_table("streams.orders")
        named = table.snapshot_by_name(tag)
        assert named is not None and named.snapshot_id == snapshot
        by_pyiceberg = table.scan(snapshot_id=named.snapshot_id).to_arrow().num_rows
        duckdb = duckdb_on(lake.uri)
        asked = f"SELECT count(*) FROM lake.streams.orders AT (VERSION => {snapshot})"
        (by_duckdb,) = duckdb.execute(asked).fetchone() or (None,)
        assert (by_spark, by_pyiceberg, by_duckdb) == (10, 10, 10)
        assert stranger.sql("SELECT count(*) AS n FROM {t}")[0].n == 14
        check_verify(lake, "orders")
