"""`lakestream adopt`: tables that DuckDB made and filled, as topics for Kafka clients."""

import json
from typing import Any

import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

from tests.integration.catalog.engines import pyiceberg_on
from tests.integration.up_process import Done, Up, command


@pytest.fixture(scope="module")
def stock(up: Up) -> str:
    """A namespace of ordinary tables."""
    assert run(up, "sql", "CREATE SCHEMA lake.stock").returncode == 0
    return "stock"


def run(up: Up, *arguments: str) -> Done:
    return command(*arguments, "--http", up.http)


def sql(up: Up, *statements: str) -> None:
    for statement in statements:
        done = run(up, "sql", statement)
        assert done.returncode == 0, done.stderr


def consumed(up: Up, topic: str) -> list[Any]:
    done = command("consume", topic, "--kafka", up.kafka, "--json")
    assert done.returncode == 0, done.stderr
    return sorted((json.loads(json.loads(line)["value"]) for line in done.stdout.splitlines()), key=str)


def test_the_rows_that_are_there_and_those_that_come_are_records(up: Up, stock: str) -> None:
    sql(up, "CREATE TABLE lake.stock.beans (id BIGINT, sku VARCHAR)")
    sql(up, "INSERT INTO lake.stock.beans VALUES (1, 'a'), (2, NULL)")
    tried = run(up, "adopt", "stock.beans", "--from", "beginning", "--dry-run")
    assert (tried.returncode, tried.stdout) == (0, "table stock.beans would be topic beans\n"), tried.stderr
    assert "beans" not in command("topic", "list", "--kafka", up.kafka, "--json").stdout
    done = run(up, "adopt", "stock.beans", "--from", "beginning", "--partitions", "2", "--key", "id")
    assert (done.returncode, done.stdout) == (0, "table stock.beans is topic beans\n"), done.stderr
    assert "2 partitions, values are json" in done.stderr and "its 2 rows are the topic's first records" in done.stderr
    sql(up, "INSERT INTO lake.stock.beans VALUES (3, 'c')")
    assert command("produce", "beans", "--kafka", up.kafka, text='{"id":4,"sku":"d"}\n').returncode == 0
    assert consumed(up, "beans") == [{"id": n, "sku": sku} for n, sku in ((1, "a"), (2, None), (3, "c"), (4, "d"))]
    shown = run(up, "sql", "SELECT * FROM lake.stock.beans ORDER BY id", "--json")
    assert [row["id"] for row in json.loads(shown.stdout)] == [1, 2, 3]
    again = run(up, "adopt", "stock.beans")
    assert again.returncode == 1 and "belongs to a topic already" in again.stderr


def test_from_now_on_leaves_the_rows_that_are_there_rows(up: Up, stock: str) -> None:
    sql(up, "CREATE TABLE lake.stock.peas (id BIGINT)", "INSERT INTO lake.stock.peas VALUES (1), (2)")
    sql(up, "DELETE FROM lake.stock.peas WHERE id = 1")
    refused = run(up, "adopt", "stock.peas", "--from", "beginning")
    assert refused.returncode == 1 and "rewrite_data_files" in refused.stderr
    done = run(up, "adopt", "stock.peas", "--json")
    assert done.returncode == 0, done.stderr
    assert {key: json.loads(done.stdout)[key] for key in ("topic", "records", "done")} == {
        "topic": "peas",
        "records": 0,
        "done": True,
    }
    sql(up, "INSERT INTO lake.stock.peas VALUES (3)")
    assert consumed(up, "peas") == [{"id": 3}]
    shown = run(up, "sql", "SELECT id FROM lake.stock.peas ORDER BY id", "--json")
    assert json.loads(shown.stdout) == [{"id": 2}, {"id": 3}]


def test_what_cannot_be_adopted_is_said_with_what_to_do(up: Up, stock: str) -> None:
    required = Schema(NestedField(1, "id", LongType(), required=True), NestedField(2, "sku", StringType()))
    pyiceberg_on(f"http://{up.http}/iceberg").create_table("stock.rice", required)
    sql(up, "CREATE TABLE lake.stock.days (day DATE)")
    for arguments, reason in (
        (("stock.rice",), "Leave out NOT NULL"),
        (("stock.days",), "'lakestream.value.format'='avro'"),
        (("stock.nobody",), "Table does not exist: stock.nobody"),
        (("stock.days", "--key", "hour", "--format", "avro"), "no column 'hour'"),
        (("stock..days",), "write namespace.table"),
    ):
        done = run(up, "adopt", *arguments)
        assert (done.returncode, done.stdout) == (1, "") and reason in done.stderr, done.stderr
    assert run(up, "adopt", "stock.days", "--format", "avro").returncode == 0
