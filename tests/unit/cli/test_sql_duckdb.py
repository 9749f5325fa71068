"""What DuckDB says, and what becomes of it: the catalog's own words, and advice that fits."""

import json

import pytest

from lakestream.cli.engines.sql_duckdb import advice, ask_duckdb
from lakestream.cli.failures import WrongUse

REFUSED = 'tables of "streams" belong to topics'


def body() -> str:
    return json.dumps({"error": {"message": REFUSED, "type": "ForbiddenException", "code": 403}}, separators=(",", ":"))


def test_the_catalogs_words_are_taken_out_of_what_duckdb_says_around_them() -> None:
    assert advice(f"Request to 'http://x' returned (Forbidden_403), body: {body()}") == REFUSED


def test_the_catalogs_words_are_found_where_duckdb_has_escaped_them_once_more() -> None:
    inner = f"Request to 'http://x' returned a non-200 status code, body: {body()}"
    wrapped = json.dumps({"exception_type": "Invalid", "exception_message": inner}, separators=(",", ":"))
    assert advice(f"Request to 'http://x' returned body: {wrapped}") == REFUSED


def test_a_table_that_is_there_is_not_taken_for_a_missing_one() -> None:
    said = 'Catalog Error: Table with name "t" already exists'
    assert advice(said) == said


def test_a_namespace_with_dots_is_shown_in_quotes() -> None:
    assert 'lake."sales.eu".orders' in advice("Parser Error: NameListToString NOT IMPLEMENTED")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT 1; SELECT 2", "2 statements"),
        ("SELECT 'größer;';; SELECT 2; SELECT 3;", "3 statements"),
        (" ; -- nothing", "no query"),
    ],
)
def test_a_query_has_one_statement(query: str, said: str) -> None:
    with pytest.raises(WrongUse, match=said), ask_duckdb("http://127.0.0.1:1/iceberg", query):
        pass
