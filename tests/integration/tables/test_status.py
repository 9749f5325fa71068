"""`lakestream status`: how far each table lags behind its topic, and what lies at rest."""

from pathlib import Path
from typing import Any

from tests.integration.tables.lake import RunningLake, running_lake


def topic(lake: RunningLake, name: str) -> Any:
    [found] = [one for one in lake.json("status")["topics"] if one["name"] == name]
    return found


def test_status_shows_the_lag_until_the_table_has_caught_up(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.create("orders", 2)
        assert topic(lake, "orders")["table"]["table"] is None
        lake.produce("orders", [b"v" * 100] * 10)
        behind = topic(lake, "orders")["table"]
        assert behind["lag_records"] == 10
        assert behind["lag_bytes"] > 1_000
        assert behind["lag_seconds"] > 0
        assert behind["debt_spans"] > 0
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
        assert table["files"] == 1
        file = next(lake.objects.glob("tables/**/*.parquet"))
        assert table["bytes"] == file.stat().st_size
        assert (table["bytes_by_others"], table["bytes_let_go"], table["bytes_over_one_copy"]) == (0, 0, 0)
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
        assert "over one copy" in done.stdout


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
        assert after["bytes_let_go"] == after["bytes_over_one_copy"] == before["bytes"] - after["bytes"] > 0
        assert after["last_commit_ms"] == before["last_commit_ms"]
        assert topic(lake, "whole")["table"]["bytes_over_one_copy"] == 0


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
