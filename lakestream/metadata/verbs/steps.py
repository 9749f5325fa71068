"""A verb's steps: a generator that yields statements, is sent their answers, and returns the verb's result.

    steps -> statement -> driver -> database -> answer -> steps ... -> result

A verb does not know which database answers it or whether its driver waits (sqlite/running.py) or awaits
(postgres/running.py). A driver may run a verb again from its start, so a verb changes nothing but the database.
"""

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from lakestream.metadata.verbs.wording import Sql, Wording

T = TypeVar("T")

Row = tuple[Any, ...]


class Statement(NamedTuple):
    sql: Sql
    parameters: Mapping[str, object]
    columns: Mapping[str, Sequence[object]] | None = None
    """Further parameters, one list each. PostgreSQL gets the lists; SQLite runs its text for each of their rows."""


class Reply(NamedTuple):
    rows: list[Row]
    changed: int
    """How many rows the statement changed. Unknown for a statement that returns columns."""


class DuplicateKey(Exception):
    """A statement would have stored a key that exists already. The driver raises this inside the verb."""


Steps = Generator[Statement, Reply, T]


def all_rows(sql: Sql, /, **parameters: object) -> Steps[list[Row]]:
    return (yield Statement(sql, parameters)).rows


def maybe_row(sql: Sql, /, **parameters: object) -> Steps[Row | None]:
    rows = (yield Statement(sql, parameters)).rows
    return rows[0] if rows else None


def one_row(sql: Sql, /, **parameters: object) -> Steps[Row]:
    row = yield from maybe_row(sql, **parameters)
    assert row is not None, f"there is always a row for: {sql}"
    return row


def changed(sql: Sql, /, **parameters: object) -> Steps[int]:
    """How many rows the statement changed."""
    return (yield Statement(sql, parameters)).changed


def for_each(columns: Mapping[str, Sequence[object]], sql: Wording, /, **parameters: object) -> Steps[None]:
    yield Statement(sql, parameters, columns)


def lock(sql: str, /, **parameters: object) -> Steps[None]:
    """Wait until no other transaction holds these rows. PostgreSQL only: SQLite has one writer at a time."""
    yield Statement(Wording(postgres=sql, sqlite=None), parameters)
