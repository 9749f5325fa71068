"""Engines that only read: polars and daft, through PyIceberg's catalog, on a topic's table that others have changed."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import daft
import polars
import pytest
from pyiceberg.table import Table

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.up_process import ROOT, environment

SNIPPET = re.compile(r"```python\n(.*?)```", re.DOTALL)
ADDRESS = "http://127.0.0.1:8080/iceberg"
RUN_SECONDS_MAX = 60
RECORDS, DELETED = 100, 10
REST = range(DELETED, RECORDS)


def value(number: int) -> bytes:
    return json.dumps({"id": number, "sku": f"sku-{number % 3}", "tags": ["a", "b"], "price": number / 2}).encode()


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    """A topic's table of two commits, of which DuckDB has deleted the first rows by position."""
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        for first in (0, RECORDS // 2):
            running.produce("orders", [value(number) for number in range(first, first + RECORDS // 2)])
            running.compact()
        with duckdb_on(running.uri) as duckdb:
            duckdb.execute(f"DELETE FROM lake.streams.orders WHERE id < {DELETED}")
        yield running


@pytest.fixture
def orders(lake: RunningLake) -> Table:
    return pyiceberg_on(lake.uri).load_table("streams.orders")


def test_polars_reads_what_is_left_of_a_topics_table(orders: Table) -> None:
    found = polars.scan_iceberg(orders).filter(polars.col("sku") == "sku-1").sort("id").collect()
    assert found["id"].to_list() == [number for number in REST if number % 3 == 1]
    assert found["price"].sum() == sum(number / 2 for number in REST if number % 3 == 1)
    assert found["tags"].to_list()[0] == ["a", "b"]
    assert found["__offset"].to_list() == found["id"].to_list()


def test_polars_reads_the_log_which_nobody_can_delete_from(lake: RunningLake) -> None:
    log = pyiceberg_on(lake.uri).load_table("streams.orders__log")
    assert polars.scan_iceberg(log).select(polars.len()).collect().item() == RECORDS


def test_daft_reads_what_is_left_of_a_topics_table(orders: Table) -> None:
    frame = daft.read_iceberg(orders)
    found = frame.where(daft.col("sku") == "sku-1").sort("id").select("id", "price", "tags", "__offset").to_pydict()
    assert found["id"] == found["__offset"] == [number for number in REST if number % 3 == 1]
    assert found["price"] == [number / 2 for number in found["id"]]
    assert found["tags"][0] == ["a", "b"]


def test_daft_finds_the_tables_in_the_catalog(lake: RunningLake) -> None:
    catalog = daft.catalog.Catalog.from_iceberg(pyiceberg_on(lake.uri))
    assert "streams.orders" in {str(name) for name in catalog.list_tables()}
    assert catalog.get_table("streams.orders__log").read().count_rows() == RECORDS


def test_polars_appends_to_an_ordinary_table(lake: RunningLake) -> None:
    catalog = pyiceberg_on(lake.uri)
    catalog.create_namespace_if_not_exists("shop")
    frame = polars.DataFrame({"id": [1, 2], "sku": ["a", "b"]})
    table = catalog.create_table("shop.sales", schema=frame.to_arrow().schema)
    frame.write_iceberg(table, mode="append")
    frame.write_iceberg(table, mode="append")
    with duckdb_on(lake.uri) as duckdb:
        assert duckdb.sql("SELECT count(*), sum(id) FROM lake.shop.sales").fetchall() == [(4, 6)]


def test_the_snippet_of_the_reference_page_runs_as_it_is_written(lake: RunningLake) -> None:
    (written,) = SNIPPET.findall((ROOT / "docs" / "reference" / "engines.md").read_text())
    assert ADDRESS in written
    run = [sys.executable, "-c", written.replace(ADDRESS, lake.uri)]
    done = subprocess.run(run, env=environment(), capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    assert f"sku-1 ┆ {len(REST) // 3}" in done.stdout
    assert f"'id': {[number for number in REST if number / 2 > 40]}" in done.stdout
