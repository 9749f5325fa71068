"""`lakestream status`: how far each table lags behind its topic, and what lies at rest."""

import asyncio
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakestream.administration.copies import TableCopies
from lakestream.cli.output import in_units
from lakestream.protocol.rest.collectors.table_copies import table_copies_page
from lakestream.storage.garbage.sweep import delete_dead_segments
from lakestream.world.clock import SystemClock
from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import attach


def topic(lake: RunningLake, name: str) -> Any:
    [found] = [one for one in lake.json("status")["topics"] if one["name"] == name]
    return found


def test_status_shows_the_lag_until_the_table_has_caught_up(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.create("orders", 2)
        assert topic(lake, "orders")["table"]["table"] is topic(lake, "orders")["table"]["health"] is None
        lake.produce("orders", [b"v" * 100] * 10)
        behind = topic(lake, "orders")["table"]
        assert behind["lag_records"] == 10
        assert behind["lag_bytes"] > 1_000
        assert behind["lag_seconds"] > 0
        assert behind["debt_spans"] > 0
        assert (behind["freshness"], behind["promised_seconds"], behind["late"]) == ("10s", 10, False)
        before = lake.json("status")["wal"]

        lake.compact()

        caught_up = topic(lake, "orders")
        table = caught_up["table"]
        assert (table["table"], table["lag_records"], table["lag_bytes"], table["lag_seconds"]) == (
            "streams.orders",
            0,
            0,
            0,
        )
        assert table["debt_spans"] == 0
        assert table["files"] == table["main"]["files"] == table["main"]["sampled_files"] == 1
        assert table["health"] == {"condition": "good", "findings": []}
        file = next(lake.objects.glob("tables/**/*.parquet"))
        assert table["bytes"] == file.stat().st_size
        assert (table["bytes_by_others"], table["bytes_let_go"], table["bytes_set_aside"]) == (0, 0, 0)
        assert table["last_commit_ms"] > 0
        assert [part["tabled_until"] for part in caught_up["partitions"]] == [
            part["next_offset"] for part in caught_up["partitions"]
        ]
        assert [part["wal_start"] for part in caught_up["partitions"]] == [None, None]
        wal = lake.json("status")["wal"]
        assert wal["bytes"] >= before["bytes"]
        assert wal["bytes_over_one_copy"] == wal["bytes"]
        assert wal["overdue_segments"] == []

        done = lake.command("status")
        assert done.returncode == 0
        assert "streams.orders" in done.stdout
        assert (
            f"of which {in_units(wal['bytes'])} not needed any more: deleted after the grace of 60 min" in done.stdout
        )
        [row] = [line.split() for line in done.stdout.splitlines() if line.startswith("streams.orders")]
        assert row[:7] == ["streams.orders", "0", "10s", "1", *in_units(table["bytes"]).split(), "0"], (
            "a young table is healthy"
        )


def test_a_topic_is_there_twice_until_the_grace_of_its_wal_objects_is_over_and_then_once(tmp_path: Path) -> None:
    def copies(name: str) -> tuple[int, int, float]:
        found = topic(lake, name)
        return (found["bytes"], found["table"]["bytes_over_one_copy"], found["table"]["copies"])

    with running_lake(tmp_path) as lake:
        for name in ("orders", "other"):
            lake.create(name, 2)
            lake.produce(name, [b"v" * 100] * 10)
        bytes = topic(lake, "orders")["bytes"]
        assert bytes > 1_000
        assert copies("orders") == (bytes, 0, 1.0)
        lake.compact()
        assert copies("orders") == (bytes, bytes, 2.0)
        assert f'lakestream_table_topic_bytes_in_wal_too{{topic="orders"}} {bytes}.0' in metrics(lake)
        lake.produce("orders", [b"v" * 100] * 10)
        both = topic(lake, "orders")["bytes"]
        assert copies("orders") == (both, bytes, round(1 + bytes / both, 2)), "what is not in the table lies once"
        assert "x)" not in lake.command("status").stdout, "a copy that goes by itself is no alarm"

        lake.compact()
        lake.run(asyncio.sleep(0.01))
        assert lake.run(delete_dead_segments(lake.store, lake.object_store, 0)) > 0

        assert copies("orders") == (both, 0, 1.0)
        assert lake.json("status")["wal"]["bytes"] == 0


def metrics(lake: RunningLake) -> str:
    return table_copies_page(lake.run(TableCopies(lake.store, SystemClock()).bytes_in_wal_too())).decode()


def test_files_that_others_wrote_count_for_as_long_as_the_table_has_them(tmp_path: Path, spark: SparkSession) -> None:
    with running_lake(tmp_path) as lake:
        lake.produce("orders", [b"v" * 100] * 10)
        lake.compact()
        attach(spark, "status", lake.uri)
        spark.sql(
            "CALL status.system.rewrite_data_files(table => 'streams.orders', options => map('rewrite-all','true'))"
        )
        [theirs] = lake.objects.glob("tables/*/data/*.parquet")
        lake.produce("orders", [b"v" * 100] * 10)
        lake.compact()
        before = topic(lake, "orders")["table"]
        assert before["bytes_by_others"] == theirs.stat().st_size
        assert before["bytes_over_one_copy"] == before["bytes_in_wal_too"] + theirs.stat().st_size
        spark.sql(
            "CALL status.system.expire_snapshots(table => 'streams.orders', older_than => now(), retain_last => 1)"
        )
        assert topic(lake, "orders")["table"]["bytes_by_others"] == theirs.stat().st_size, "its snapshot alone is gone"
        spark.sql("DELETE FROM status.streams.orders WHERE true")
        spark.sql(
            "CALL status.system.expire_snapshots(table => 'streams.orders', older_than => now(), retain_last => 1)"
        )
        assert topic(lake, "orders")["table"]["bytes_by_others"] == 0


def test_what_retention_let_go_of_is_shown_for_its_topic_until_it_is_deleted(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        for name in ("cut", "whole"):
            lake.create(name, 1)
            for _ in range(2):
                lake.produce(name, [b"v" * 100] * 10)
                lake.compact()
        before = topic(lake, "cut")["table"]
        [id] = [one.partitions[0] for one in lake.run(lake.store.topics()).topics if one.name == "cut"]
        lake.run(lake.store.delete_records(id, 10))
        lake.upkeep()
        after = topic(lake, "cut")["table"]
        assert after["files"] == 1
        assert after["bytes_let_go"] == before["bytes"] - after["bytes"] > 0
        assert after["bytes_over_one_copy"] == after["bytes_let_go"] + after["bytes_in_wal_too"]
        assert after["last_commit_ms"] == before["last_commit_ms"]
        whole = topic(lake, "whole")["table"]
        assert (whole["bytes_let_go"], whole["bytes_over_one_copy"]) == (0, whole["bytes_in_wal_too"])


def test_a_damaged_table_is_named_and_hides_no_other(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.produce("broken", [b"a"])
        lake.compact()
        for file in lake.objects.glob("tables/*/metadata/*.metadata.json"):
            file.unlink()
        lake.produce("whole", [b"b"])
        assert "does not exist" in topic(lake, "broken")["table"]["error"]
        assert topic(lake, "whole")["table"]["lag_records"] == 1
        assert lake.command("status").returncode == 0
