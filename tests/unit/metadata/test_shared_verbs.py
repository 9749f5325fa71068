"""Verbs written once: what each database is asked, and what a verb is told."""

import sqlite3

import pytest

from lakestream.metadata.sqlite.running import drive
from lakestream.metadata.verbs.steps import (
    DuplicateKey,
    Steps,
    all_rows,
    changed,
    for_each,
    lock,
    maybe_row,
    one_row,
)
from lakestream.metadata.verbs.wording import Wording, for_postgres, for_sqlite

NOW_MS = 1_000


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE item (name TEXT PRIMARY KEY, made_ms INTEGER, weight INTEGER)")
    connection.executemany("INSERT INTO item VALUES (?, 0, ?)", [("a", 1), ("b", 2), ("c", 3)])
    return connection


# --- the two dialects --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "in_sqlite"),
    [
        ("SELECT now_ms() - :age_ms", "SELECT :now_ms - :age_ms"),
        ("SELECT 1 FROM item WHERE name = :name FOR UPDATE", "SELECT 1 FROM item WHERE name = :name"),
        ("SELECT 1 FROM item WHERE name = :name FOR SHARE", "SELECT 1 FROM item WHERE name = :name"),
        ("SELECT 1 FROM item WHERE name = :name FOR KEY SHARE", "SELECT 1 FROM item WHERE name = :name"),
        ('SELECT name FROM item ORDER BY name COLLATE "C"', "SELECT name FROM item ORDER BY name"),
        ("name = ANY (:names)", "name IN (SELECT value FROM json_each(:names))"),
        ("FROM unnest(:ids::bigint[]) AS asked (id)", "FROM (SELECT value AS id FROM json_each(:ids)) AS asked"),
        ("greatest(made_ms, greatest(weight, 0))", "max(made_ms, max(weight, 0))"),
        ("starts_with(v.name, :prefix)", "substr(v.name, 1, length(:prefix)) = :prefix"),
        (
            "array_to_json(ARRAY(SELECT id FROM partition ORDER BY number))::text",
            "(SELECT json_group_array(id) FROM (SELECT id FROM partition ORDER BY number))",
        ),
        ("sum(weight)::bigint", "sum(weight)"),
    ],
)
def test_sqlite_is_asked_in_its_own_words(text: str, in_sqlite: str) -> None:
    assert for_sqlite(text) == in_sqlite


def test_postgresql_is_asked_as_it_is_written_but_for_the_parameters() -> None:
    text = "SELECT sum(x)::bigint FROM unnest(:ids::bigint[]) AS asked (id) WHERE a = :a AND b > now_ms() FOR UPDATE"
    assert for_postgres(text) == (
        b"SELECT sum(x)::bigint FROM unnest(%(ids)s::bigint[]) AS asked (id)"
        b" WHERE a = %(a)s AND b > now_ms() FOR UPDATE"
    )


def test_a_statement_with_two_texts_gives_each_database_its_own() -> None:
    both = Wording(postgres="SELECT :a FROM LATERAL b", sqlite="SELECT :a FROM c WHERE d < now_ms()")
    assert for_postgres(both) == b"SELECT %(a)s FROM LATERAL b"
    assert for_sqlite(both) == "SELECT :a FROM c WHERE d < :now_ms"


# --- SQLite's driver ---------------------------------------------------------------------------


def test_a_verb_is_sent_the_answers_of_its_statements(connection: sqlite3.Connection) -> None:
    def verb() -> Steps[tuple[object, ...]]:
        heavier = yield from changed("UPDATE item SET weight = weight + :more WHERE weight >= 2", more=10)
        rows = yield from all_rows("SELECT name, weight FROM item WHERE name = ANY (:names)", names=["a", "c"])
        (total,) = yield from one_row("SELECT sum(weight)::bigint FROM item")
        missing = yield from maybe_row("SELECT 1 FROM item WHERE name = :name FOR UPDATE", name="z")
        return heavier, rows, total, missing

    assert drive(connection, verb(), NOW_MS) == (2, [("a", 1), ("c", 13)], 26, None)


def test_a_verb_has_one_time_from_its_begin_to_its_end(connection: sqlite3.Connection) -> None:
    def verb() -> Steps[list[tuple[object, ...]]]:
        yield from changed("UPDATE item SET made_ms = now_ms() WHERE name = :name", name="a")
        return (yield from all_rows("SELECT name FROM item WHERE made_ms = now_ms()"))

    assert drive(connection, verb(), NOW_MS) == [("a",)]


def test_locks_cost_sqlite_no_statement(connection: sqlite3.Connection) -> None:
    seen: list[str] = []
    connection.set_trace_callback(seen.append)

    def verb() -> Steps[None]:
        yield from lock("SELECT 1 FROM item ORDER BY name FOR UPDATE")

    drive(connection, verb(), NOW_MS)
    assert seen == []


def test_what_is_asked_for_each_row_is_done_for_each(connection: sqlite3.Connection) -> None:
    insert = Wording(
        postgres="INSERT INTO item SELECT name, now_ms(), weight * :times FROM unnest(:name::text[], :weight::int[])",
        sqlite="INSERT INTO item VALUES (:name, now_ms(), :weight * :times)",
    )

    def verb() -> Steps[list[tuple[object, ...]]]:
        yield from for_each({"name": ["x", "y"], "weight": [7, 8]}, insert, times=2)
        return (yield from all_rows("SELECT * FROM item WHERE made_ms = now_ms() ORDER BY name"))

    assert drive(connection, verb(), NOW_MS) == [("x", NOW_MS, 14), ("y", NOW_MS, 16)]


def test_a_verb_can_answer_a_key_that_is_taken(connection: sqlite3.Connection) -> None:
    def verb() -> Steps[str]:
        try:
            yield from changed("UPDATE item SET name = :name WHERE name = :old", name="a", old="b")
        except DuplicateKey:
            rows = yield from all_rows("SELECT name FROM item ORDER BY name")
            return f"taken, as before: {rows}"
        return "renamed"

    assert drive(connection, verb(), NOW_MS) == "taken, as before: [('a',), ('b',), ('c',)]"
