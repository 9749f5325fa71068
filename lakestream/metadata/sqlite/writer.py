"""The one writer of a process: verbs that wait at the same time share a transaction, and so an fsync.

    run(verb) -> waiting -> [our turn, BEGIN IMMEDIATE, (SAVEPOINT verb RELEASE) ..., COMMIT] -> answers

A verb that fails rolls back to its own savepoint and the others do not notice. Nothing is answered before the
COMMIT. While one group is being made durable the next one gathers, which is all the batching there is.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from lakestream.metadata.sqlite.connection import BUSY_SECONDS_MAX, error_for
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.turn import Turn
from lakestream.model.errors import Overloaded, StoreUnavailable
from lakestream.world.clock import Clock

T = TypeVar("T")
Verb = Callable[[sqlite3.Connection], T]

GROUP_VERBS_MAX = 64
"""Bounds how long one transaction keeps other processes waiting."""

WAITING_VERBS_MAX = 10_000
"""More than this is not a queue but a stall; the caller should know."""

_TURN_POLL_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class _Done:
    value: Any


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


_Outcome = _Done | _Failed


@dataclass(frozen=True, slots=True)
class _Waiting:
    verb: Verb[Any]
    answer: "asyncio.Future[Any]"


class Writer:
    def __init__(
        self,
        lane: Lane,
        *,
        turn: Turn,
        clock: Clock,
        on_commit: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._connection = lane.connection
        self._database = lane.database
        self._turn = turn
        self._clock = clock
        self._on_commit = on_commit
        self._waiting: deque[_Waiting] = deque()
        self._rounds: asyncio.Task[None] | None = None
        self._closed = False

    async def run(self, verb: Verb[T]) -> T:
        """The verb's result, once it is durable. A caller that stops waiting does not stop its verb."""
        if self._closed:
            raise StoreUnavailable(f"the metadata store {self._database} was closed: open it again")
        if len(self._waiting) >= WAITING_VERBS_MAX:
            raise Overloaded(f"{WAITING_VERBS_MAX} changes wait for the metadata file {self._database}: slow down")
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(verb, answer))
        if self._rounds is None:
            self._rounds = asyncio.get_running_loop().create_task(self._commit_rounds(), name="sqlite-commits")
        return await answer

    async def close(self) -> None:
        """Finish what waits, and take no more."""
        if self._closed:
            return
        self._closed = True
        if self._rounds is not None:
            await asyncio.gather(self._rounds, return_exceptions=True)
        self._turn.close()

    async def _commit_rounds(self) -> None:
        group: list[_Waiting] = []
        try:
            while self._waiting:
                group = [self._waiting.popleft() for _ in range(min(len(self._waiting), GROUP_VERBS_MAX))]
                _answer(group, await self._commit_in_turn([waiting.verb for waiting in group]))
                self._on_commit()
        finally:
            self._rounds = None
            _give_up([*group, *self._waiting])
            self._waiting.clear()

    async def _commit_in_turn(self, verbs: Sequence[Verb[Any]]) -> Sequence[_Outcome]:
        give_up_at = self._clock.monotonic() + BUSY_SECONDS_MAX
        while (outcomes := await self._lane.run(lambda: self._commit_if_our_turn(verbs))) is None:
            if self._clock.monotonic() >= give_up_at:
                return [_Failed(_locked_too_long(self._database))] * len(verbs)
            await self._clock.sleep(_TURN_POLL_SECONDS)
        return outcomes

    # --- on the writer's thread ----------------------------------------------------------------

    def _commit_if_our_turn(self, verbs: Sequence[Verb[Any]]) -> Sequence[_Outcome] | None:
        if not self._turn.take():
            return None
        try:
            return self._commit(verbs)
        except sqlite3.Error as error:
            self._roll_back()
            return [_Failed(error_for(error, self._database))] * len(verbs)
        finally:
            self._turn.give_back()

    def _commit(self, verbs: Sequence[Verb[Any]]) -> Sequence[_Outcome]:
        self._connection.execute("BEGIN IMMEDIATE")
        outcomes = [self._run_alone(verb) for verb in verbs]
        self._connection.execute("COMMIT")
        return outcomes

    def _run_alone(self, verb: Verb[Any]) -> _Outcome:
        self._connection.execute("SAVEPOINT verb")
        try:
            outcome: _Outcome = _Done(verb(self._connection))
        except Exception as error:  # whatever a verb raises is its caller's, and only its caller's
            if not self._connection.in_transaction:
                raise  # SQLite has rolled everything back (disk full, I/O error): the whole group failed
            self._connection.execute("ROLLBACK TO verb")
            outcome = _Failed(error_for(error, self._database) if isinstance(error, sqlite3.Error) else error)
        self._connection.execute("RELEASE verb")
        return outcome

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _answer(group: Sequence[_Waiting], outcomes: Sequence[_Outcome]) -> None:
    for waiting, outcome in zip(group, outcomes, strict=True):
        if waiting.answer.done():
            continue  # the caller was cancelled meanwhile
        match outcome:
            case _Done(value):
                waiting.answer.set_result(value)
            case _Failed(error):
                waiting.answer.set_exception(error)


def _give_up(waiting: Sequence[_Waiting]) -> None:
    """Nobody is left waiting for ever, also when the rounds were cancelled."""
    for one in waiting:
        if not one.answer.done():
            one.answer.cancel()


def _locked_too_long(database: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"other processes wrote to the metadata file {database} for more than {BUSY_SECONDS_MAX:g} s without a pause: "
        "try again; if it stays so, look for a stopped process that holds its '-turn' file"
    )
