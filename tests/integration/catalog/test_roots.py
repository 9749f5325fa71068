"""Ordinary tables outside of our object store, where the setting catalog.roots allows them."""

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.exceptions import BadRequestError

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.catalog.gateway import running_catalog

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]})


def test_engines_write_and_read_a_table_below_an_allowed_root(tmp_path: Path) -> None:
    root, beside = tmp_path / "warehouse", tmp_path / "beside"
    root.mkdir()
    (tmp_path / "lake").mkdir()
    with running_catalog(tmp_path / "lake", roots=[root.as_uri()]) as running:
        lake = pyiceberg_on(running.uri)
        lake.create_namespace("shop")
        table = lake.create_table("shop.sales", schema=ROWS.schema, location=f"{root.as_uri()}/sales")
        table.append(ROWS)
        table.append(ROWS)
        assert len(list((root / "sales" / "metadata").glob("*.metadata.json"))) == 3
        assert len(list((root / "sales" / "data").glob("*.parquet"))) == 2
        assert lake.load_table("shop.sales").scan().to_arrow().num_rows == 6
        with duckdb_on(running.uri) as connection:
            assert connection.sql("SELECT count(*), max(id) FROM lake.shop.sales").fetchall() == [(6, 3)]
        with pytest.raises(BadRequestError, match="is no place for a table"):
            lake.create_table("shop.beside", schema=ROWS.schema, location=f"{beside.as_uri()}/sales")
        lake.drop_table("shop.sales")
        assert list(root.rglob("*.parquet")), "a table that is dropped without purging keeps its files"
