"""DuckDB as the first stranger that writes to a topic's table: it makes no folders, and minds what is required."""

from pathlib import Path

from pyiceberg.catalog.rest import RestCatalog

from tests.integration.catalog.engines import duckdb_on
from tests.integration.tables.lake import running_lake
from tests.integration.tables.live import consumed


def test_duckdb_updates_and_deletes_in_a_fresh_table_and_consumers_see_what_was_produced(tmp_path: Path) -> None:
    with running_lake(tmp_path) as lake:
        lake.produce("orders", [b"a", b"b", b"c", b"d"])  # with headers and without
        lake.compact()
        produced = consumed(lake.kafka, "orders", partitions=1, count=4)
        with duckdb_on(lake.uri) as duckdb:
            for offset in (0, 1):
                duckdb.execute(f"UPDATE lake.streams.orders SET __value = 'z'::BLOB WHERE __offset = {offset}")
            duckdb.execute("DELETE FROM lake.streams.orders WHERE __offset = 2")
        lake.produce("orders", [b"e"])
        lake.compact()
        shown = lake.json("sql", "SELECT __offset, __value FROM orders ORDER BY __offset")
        assert [(row["__offset"], row["__value"]) for row in shown] == [(0, "z"), (1, "z"), (3, "d"), (4, "e")]
        assert lake.json("sql", "SELECT count(*) AS n FROM orders__log") == [{"n": 5}]
        assert consumed(lake.kafka, "orders", partitions=1, count=5)[:4] == produced


def test_duckdb_changes_columns_and_system_columns_stay_as_they_are(tmp_path: Path) -> None:
    """It sends every list back as one of optional elements, and without descriptions."""
    with running_lake(tmp_path) as lake:
        lake.produce("orders", [b'{"id": 1, "amount": 2, "old": 3}'])
        lake.compact()
        table = RestCatalog("lake", uri=lake.uri).load_table("streams.orders")
        before = {column.name: column for column in table.schema().fields if column.name.startswith("__")}
        with duckdb_on(lake.uri) as duckdb:
            for change in ("ADD COLUMN note VARCHAR", "RENAME COLUMN amount TO total", "DROP COLUMN old"):
                duckdb.execute(f"ALTER TABLE lake.streams.orders {change}")
        lake.produce("orders", [b'{"id": 4, "amount": 5, "old": 6}'])
        lake.compact()
        shown = lake.json("sql", "SELECT id, total, note FROM orders ORDER BY id")
        assert shown == [{"id": 1, "total": 2, "note": None}, {"id": 4, "total": 5, "note": None}]
        after = {column.name: column for column in table.refresh().schema().fields if column.name.startswith("__")}
        assert after == before and "old" not in table.schema().column_names
