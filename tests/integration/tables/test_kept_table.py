"""A topic is deleted and its table stays: nothing that the topic left lies about, and it is any engine's to change."""

from pathlib import Path

from confluent_kafka.admin import AdminClient

from lakestream.catalog.files.commit_names import CommitNames
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.tables.leftovers import unreferenced

COUNT = 8
"""Commits, with one record each."""


def left(lake: RunningLake) -> set[Path]:
    return unreferenced(lake.http, lake.objects)


def test_a_kept_table_is_clean_and_is_read_written_and_dropped_by_other_engines(tmp_path: Path) -> None:
    with running_lake(tmp_path, grace_ms=0) as lake:
        lake.create("orders", 1)
        for number in range(COUNT):
            lake.produce("orders", [b"%d" % number])
            lake.compact()
        admin = AdminClient({"bootstrap.servers": lake.kafka})
        (deleted,) = admin.delete_topics(["orders"]).values()
        deleted.result(timeout=30)
        (folder,) = (lake.objects / "tables").glob("*-log/metadata")
        killed = CommitNames(folder=str(folder), version=COUNT + 1, attempt="killed")
        Path(killed.manifest(0)).write_bytes(b"of a commit that will not come")
        assert left(lake) == {Path(killed.manifest(0))}
        lake.sweep()
        assert left(lake) == set()
        assert lake.json("sql", "SELECT count(*) AS n FROM orders") == [{"n": COUNT}]

        table = pyiceberg_on(lake.uri).load_table("streams.orders")
        rows = table.scan().to_arrow()
        assert sorted(rows["__offset"].to_pylist()) == list(range(COUNT))
        table.append(rows.slice(0, 5))
        with duckdb_on(lake.uri) as duckdb:
            duckdb.execute("DELETE FROM lake.streams.orders WHERE __offset = 7")
            found = duckdb.execute("SELECT count(*) FROM lake.streams.orders").fetchone()
        assert found == (COUNT + 5 - (2 if 7 in rows.slice(0, 5)["__offset"].to_pylist() else 1),)
        lake.sweep()
        assert left(lake) == set(), "what engines wrote is referred to, and nothing of it was taken"
        assert table.refresh().scan().to_arrow().num_rows == found[0]

        pyiceberg_on(lake.uri).purge_table("streams.orders")
        assert lake.json("sql", "SHOW TABLES") == []
        assert [path for path in (lake.objects / "tables").rglob("*") if path.is_file()] == []
        lake.sweep()
