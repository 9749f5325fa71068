"""DuckDB as the first stranger that writes to a topic's table: it makes no folders, and minds what is required."""

from pathlib import Path

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
