"""The synchronous driver: runs the steps of a verb on SQLite, in the thread of the writer or the reader."""

import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from lakestream.metadata.verbs.steps import DuplicateKey, Reply, Statement, Steps
from lakestream.metadata.verbs.wording import for_sqlite

T = TypeVar("T")

_NOTHING = Reply([], 0)
_KEY_TAKEN = (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE)


class SqliteRun(Protocol):
    def __call__(self, verb: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteDatabase:
    """`now_ms` is read inside the transaction, since a verb may have waited for its turn."""

    def __init__(self, *, write: SqliteRun, read: SqliteRun, now_ms: Callable[[], int]) -> None:
        self._write = write
        self._read = read
        self._now = now_ms

    def read(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        return self._read(lambda connection: drive(connection, verb(), self._now()))

    def write(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        return self._write(lambda connection: drive(connection, verb(), self._now()))

    def transact(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        """The writer gives every verb a transaction, or a savepoint in one that it shares."""
        return self.write(verb)


def drive(connection: sqlite3.Connection, steps: Steps[T], now_ms: int) -> T:
    """Run the steps inside the open transaction, and return their result."""
    try:
        statement = next(steps)
        while True:
            try:
                answer = _execute(connection, statement, now_ms)
            except sqlite3.IntegrityError as error:
                if error.sqlite_errorcode not in _KEY_TAKEN:
                    raise
                statement = steps.throw(DuplicateKey(str(error)))
            else:
                statement = steps.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result


def _execute(connection: sqlite3.Connection, statement: Statement, now_ms: int) -> Reply:
    if (text := for_sqlite(statement.sql)) is None:
        return _NOTHING
    parameters = {name: _bound(value) for name, value in statement.parameters.items()}
    parameters["now_ms"] = now_ms
    if statement.columns is not None:
        connection.executemany(text, _rows(statement.columns, parameters))
        return _NOTHING
    cursor = connection.execute(text, parameters)
    return Reply(cursor.fetchall(), cursor.rowcount)


def _bound(value: object) -> object:
    return json.dumps(value) if isinstance(value, list) else value


def _rows(columns: Mapping[str, Sequence[object]], parameters: Mapping[str, object]) -> list[dict[str, object]]:
    return [{**parameters, **dict(zip(columns, row, strict=True))} for row in zip(*columns.values(), strict=True)]
