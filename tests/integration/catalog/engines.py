"""DuckDB and PyIceberg, attached to a running catalog."""

from importlib import import_module
from pathlib import Path

import duckdb
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.rest import RestCatalog

_EXTENSIONS = ("httpfs", "avro", "iceberg")


def duckdb_on(uri: str) -> duckdb.DuckDBPyConnection:
    """The catalog is `lake`."""
    connection = duckdb_alone()
    connection.execute(f"ATTACH '' AS lake (TYPE iceberg, ENDPOINT '{uri}', AUTHORIZATION_TYPE 'none')")
    return connection


def duckdb_alone() -> duckdb.DuckDBPyConnection:
    """Attached to nothing, but able to read Iceberg. Extensions come from packages: nothing is downloaded."""
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in _EXTENSIONS:
        folder = Path(str(import_module(f"duckdb_extension_{name}").__file__)).parent
        (extension,) = folder.rglob(f"{name}.duckdb_extension")
        connection.execute(f"LOAD '{extension}'")
    return connection


def pyiceberg_on(uri: str) -> RestCatalog:
    catalog = load_catalog("lake", type="rest", uri=uri)
    assert isinstance(catalog, RestCatalog)
    return catalog
