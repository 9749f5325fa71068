"""Decorators of verbs: each says which kind of transaction the verb needs.

@reads       SQLite: all statements see one moment. PostgreSQL: each sees what is committed when it runs.
@writes      SQLite: one transaction. PostgreSQL: each statement commits by itself, which is enough for one.
@transacts   One transaction in both. PostgreSQL pays two more round trips, for its begin and its end.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from lakestream.metadata.verbs.steps import Steps

T = TypeVar("T")
P = ParamSpec("P")


class Database(Protocol):
    """A store's driver. It asks the verb for new steps at each attempt."""

    def read(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]: ...

    def write(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]: ...

    def transact(self, verb: Callable[[], Steps[T]], /) -> Awaitable[T]: ...


class Verbs:
    def __init__(self, database: Database) -> None:
        self._database = database


V = TypeVar("V", bound=Verbs)


def reads(verb: Callable[Concatenate[V, P], Steps[T]]) -> Callable[Concatenate[V, P], Coroutine[Any, Any, T]]:
    @wraps(verb)
    async def run(self: V, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._database.read(lambda: verb(self, *args, **named))

    return run


def writes(verb: Callable[Concatenate[V, P], Steps[T]]) -> Callable[Concatenate[V, P], Coroutine[Any, Any, T]]:
    @wraps(verb)
    async def run(self: V, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._database.write(lambda: verb(self, *args, **named))

    return run


def transacts(verb: Callable[Concatenate[V, P], Steps[T]]) -> Callable[Concatenate[V, P], Coroutine[Any, Any, T]]:
    @wraps(verb)
    async def run(self: V, /, *args: P.args, **named: P.kwargs) -> T:
        return await self._database.transact(lambda: verb(self, *args, **named))

    return run
