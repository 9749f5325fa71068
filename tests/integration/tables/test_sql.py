"""`lakestream sql`: the tables of topics, asked by DuckDB and by Spark through the catalog."""

import csv
import io
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake, running_lake
from tests.integration.up_process import command


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        running.produce("shop.orders", [b"first", b"\xff\x00", None, "größer".encode()])
        running.compact()
        yield running


def test_a_topic_is_asked_by_the_name_of_its_table(lake: RunningLake) -> None:
    rows = lake.json("sql", "SELECT __offset, __key, __value, __headers FROM shop_orders ORDER BY __offset")
    assert rows == [
        {"__offset": 0, "__key": "key-0", "__value": "first", "__headers": []},
        {
            "__offset": 1,
            "__key": "key-1",
            "__value": "\\xff00",
            "__headers": [{"key": "h", "value": "x"}, {"key": "n", "value": None}],
        },
        {"__offset": 2, "__key": None, "__value": None, "__headers": []},
        {"__offset": 3, "__key": "key-3", "__value": "größer", "__headers": []},
    ]


def test_people_get_a_table_in_which_bytes_are_readable(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT __offset, __value, __headers FROM shop_orders ORDER BY __offset")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["__offset", "__value", "__headers"]
    assert lines[1][:2] == ["0", "first"]
    assert lines[2][:2] == ["1", "\\xff00"]
    assert lines[4][:2] == ["3", "größer"]


def test_csv_has_a_header_and_a_line_for_each_row(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT __partition, __value FROM shop_orders ORDER BY __offset", "--csv")
    assert list(csv.reader(io.StringIO(done.stdout))) == [
        ["__partition", "__value"],
        ["0", "first"],
        ["0", "\\xff00"],
        ["0", ""],
        ["0", "größer"],
    ]


def test_an_answer_without_rows_is_an_empty_array(lake: RunningLake) -> None:
    assert lake.json("sql", "SELECT * FROM shop_orders WHERE __offset > 100") == []


def test_times_are_in_utc(lake: RunningLake) -> None:
    [row] = lake.json(
        "sql", "SELECT TIMESTAMPTZ '2026-01-31 08:00:00+02' AS t, 1.50::DECIMAL(5, 2) AS d, 'nan'::DOUBLE AS n"
    )
    assert row == {"t": "2026-01-31T06:00:00+00:00", "d": "1.50", "n": "nan"}


def test_two_columns_of_one_name_are_both_shown(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT 1 AS a, 2 AS a", "--csv")
    assert done.stdout == "a,a\n1,2\n"


def test_a_table_on_a_screen_ends_and_says_how_to_get_the_rest(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT * FROM range(1001)")
    assert len(done.stdout.splitlines()) == 1 + 1000
    assert "--csv" in done.stderr
    assert len(lake.json("sql", "SELECT * FROM range(1001)")) == 1001


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("SELECT * FROM nobody", "SHOW TABLES"),
        ("SELEC 1", "syntax error"),
        ("SELECT 1 / 'a'", "Could not convert"),
        ("SELECT * FROM lake.sales.eu.nobody", 'lake."sales.eu".orders'),
        ("CREATE TABLE lake.streams.mine (a TIMESTAMP)", "error: column 'a' is timestamp, which JSON has no form for"),
        ("DROP TABLE shop_orders", "error: streams.shop_orders is the table of a topic, and DROP TABLE would delete"),
        ("INSERT INTO shop_orders SELECT * FROM shop_orders", "error: add-snapshot is refused on the table of a topic"),
    ],
)
def test_what_cannot_be_answered_says_why(lake: RunningLake, query: str, advice: str) -> None:
    done = lake.command("sql", query)
    assert done.returncode == 1
    assert advice in done.stderr
    assert "Traceback" not in done.stderr and "TransactionContext" not in done.stderr


@pytest.mark.parametrize("query", ["SELECT * FROM nobody", "INSERT INTO nobody SELECT 1"])
def test_a_missing_table_is_told_how_tables_are_found_and_not_what_duckdb_guesses(
    lake: RunningLake, query: str
) -> None:
    done = lake.command("sql", query)
    assert done.returncode == 1
    assert "there is no table 'nobody'" in done.stderr
    assert "SHOW TABLES" in done.stderr and "lakestream topic describe" in done.stderr
    assert "Did you mean" not in done.stderr and "lakestream produce" not in done.stderr


def test_a_statement_without_an_answer_is_done(lake: RunningLake) -> None:
    made = lake.command("sql", "CREATE SCHEMA lake.made")
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "done\n")
    assert lake.json("sql", "DROP SCHEMA lake.made") == []
    filled = lake.command("sql", "CREATE TEMP TABLE t AS SELECT * FROM range(3)")
    assert filled.stdout.split() == ["Count", "3"]


def test_several_statements_are_refused_whatever_they_would_answer(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT 1; SELECT 2", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "2 statements" in done.stderr


def test_a_statement_that_duckdb_makes_several_of_is_one(lake: RunningLake) -> None:
    [row] = lake.json("sql", "PIVOT (SELECT __offset FROM shop_orders) ON __offset USING count(*);")
    assert row == {"0": 1, "1": 1, "2": 1, "3": 1}


def test_spark_gives_the_same_answer(lake: RunningLake, spark: SparkSession) -> None:
    query = "SELECT __offset, __key, __value, __headers, __timestamp FROM shop_orders ORDER BY __offset"
    assert lake.json("sql", query, "--engine", "spark") == lake.json("sql", query)


def test_spark_says_why_it_cannot_answer(lake: RunningLake, spark: SparkSession) -> None:
    done = lake.command("sql", "SELECT * FROM nobody", "--engine", "spark")
    assert done.returncode == 1
    assert "TABLE_OR_VIEW_NOT_FOUND" in done.stderr
    assert "SHOW TABLES" in done.stderr


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("INSERT INTO shop_orders SELECT * FROM shop_orders", "producing to the topic"),
        ("DROP TABLE shop_orders", "lakestream topic delete"),
    ],
)
def test_what_the_catalog_refuses_is_said_by_spark_too(
    lake: RunningLake, spark: SparkSession, query: str, advice: str
) -> None:
    done = lake.command("sql", query, "--engine", "spark")
    assert done.returncode == 1
    assert advice in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_gateway_it_says_how_to_start_one() -> None:
    done = command("sql", "SELECT 1", "--http", "127.0.0.1:1")
    assert done.returncode == 1
    assert "lakestream up" in done.stderr


def test_json_and_csv_exclude_each_other(lake: RunningLake) -> None:
    done = lake.command("sql", "SELECT 1", "--csv", "--json")
    assert done.returncode == 2
    assert done.stdout == ""


def test_a_topic_is_created_and_filled_by_sql(lake: RunningLake) -> None:
    for statement in (
        "CREATE TABLE lake.streams.mine (a INT, b VARCHAR)",
        "INSERT INTO mine VALUES (1, 'x'), (2, NULL)",
    ):
        done = lake.command("sql", statement)
        assert done.returncode == 0, done.stderr
    assert lake.json("sql", "SELECT * FROM mine ORDER BY a") == [{"a": 1, "b": "x"}, {"a": 2, "b": None}]
    consumed = command("consume", "mine", "--kafka", lake.kafka, "--json")
    assert consumed.returncode == 0, consumed.stderr
    assert '{\\"a\\":2,\\"b\\":null}' in consumed.stdout


def test_who_inserts_into_a_topic_is_told_to_produce(lake: RunningLake) -> None:
    done = lake.command("sql", "INSERT INTO shop_orders SELECT * FROM shop_orders")
    assert done.returncode == 1
    assert done.stderr.count("takes no rows by INSERT") == done.stderr.count("`lakestream produce TOPIC`") == 1
    assert done.stderr.endswith("the table's files are allowed\n")
