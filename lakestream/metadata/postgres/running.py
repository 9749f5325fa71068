"""The asynchronous driver: runs the steps of a verb on a connection to PostgreSQL."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from psycopg.errors import UniqueViolation

from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.verbs.steps import DuplicateKey, Reply, Statement, Steps
from lakestream.metadata.verbs.wording import for_postgres

T = TypeVar("T")


class PostgresRun(Protocol):
    def __call__(self, verb: Callable[[Connection], Awaitable[T]], /) -> Awaitable[T]: ...


class PostgresDatabase:
    def __init__(self, *, write: PostgresRun, read: PostgresRun) -> None:
        self._write = write
        self._read = read

    def read(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        return self._read(lambda connection: drive(connection, verb()))

    def write(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        return self._write(lambda connection: drive(connection, verb()))

    def transact(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]:
        return self._write(lambda connection: _drive_in_transaction(connection, verb()))


async def _drive_in_transaction(connection: Connection, steps: Steps[T]) -> T:
    async with connection.transaction():
        return await drive(connection, steps)


async def drive(connection: Connection, steps: Steps[T]) -> T:
    """Run the steps and return their result. Each statement commits by itself, unless a transaction is open."""
    try:
        statement = next(steps)
        while True:
            try:
                answer = await _execute(connection, statement)
            except UniqueViolation as error:
                statement = steps.throw(DuplicateKey(str(error)))
            else:
                statement = steps.send(answer)
    except StopIteration as ended:
        result: T = ended.value
        return result


async def _execute(connection: Connection, statement: Statement) -> Reply:
    lists = {name: list(column) for name, column in (statement.columns or {}).items()}
    cursor = await connection.execute(for_postgres(statement.sql), {**statement.parameters, **lists})
    return Reply(await cursor.fetchall() if cursor.description is not None else [], cursor.rowcount)
