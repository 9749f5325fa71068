"""Offsets of many commits in one statement: the order of the asks, and nothing written for what is there already."""

import sqlite3

import pytest

from lakestream.metadata.sqlite.connection import connect
from lakestream.metadata.sqlite.group_commits import ROWS_MAX, OffsetsAsk, commit_all
from lakestream.metadata.sqlite.migrate import migrate
from lakestream.model.group import NO_GENERATION, CommittedOffset, TopicPartition

TOPIC = b"t" * 16


@pytest.fixture
def connection() -> sqlite3.Connection:
    connection = connect(":memory:")
    migrate(connection, "sqlite:///:memory:", "cluster", 0)
    connection.execute("INSERT INTO consumer_group VALUES ('g', 1, 1, 1, '', 0, 0, NULL, NULL, NULL)")
    return connection


def ask(**offsets: int) -> OffsetsAsk:
    wanted = {TopicPartition(TOPIC, int(name[1:])): CommittedOffset(offset) for name, offset in offsets.items()}
    return OffsetsAsk("g", 1, NO_GENERATION, wanted, None)


def stored(connection: sqlite3.Connection) -> dict[int, int]:
    return dict(connection.execute("SELECT number, next_offset FROM group_offset"))


def test_of_two_commits_that_are_stored_at_once_the_later_stays(connection: sqlite3.Connection) -> None:
    assert commit_all(connection, [ask(p0=5, p1=6), ask(p0=7), ask(p1=4)], 0) == [None] * 3
    assert stored(connection) == {0: 7, 1: 4}


@pytest.mark.parametrize("count", [1, 2, 3, ROWS_MAX, ROWS_MAX + 1, 3 * ROWS_MAX - 1])
def test_any_number_of_offsets_is_stored(connection: sqlite3.Connection, count: int) -> None:
    commit_all(connection, [ask(**{f"p{number}": number for number in range(count)})], 0)
    assert stored(connection) == {number: number for number in range(count)}


def test_however_many_are_stored_few_statements_are_prepared(connection: sqlite3.Connection) -> None:
    seen: set[str] = set()
    connection.set_trace_callback(lambda statement: seen.add(statement[:30]))
    commits = [ask(**{f"p{number}": 1}) for number in range(100)]
    before = connection.total_changes
    commit_all(connection, commits, 0)
    assert connection.total_changes - before == 128
    assert len(seen) == 2, "one that looks, one that stores"


def test_an_empty_commit_stores_nothing(connection: sqlite3.Connection) -> None:
    assert commit_all(connection, [ask()], 0) == [None]
    assert stored(connection) == {}
