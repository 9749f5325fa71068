"""The one writer of a process: verbs that wait at the same time share a transaction, and therefore an fsync.

    run(verb) -> waiting -> [our turn, BEGIN IMMEDIATE, (SAVEPOINT verb RELEASE) ..., COMMIT] -> answers

A verb that fails rolls back to its own savepoint and does not affect the others. The writer answers nothing before the
COMMIT. The next group gathers while one group is being made durable; there is no other batching. The writer folds
SQLite's log into the file (a checkpoint) when a group has been answered and none waits. Left to SQLite, the checkpoint
would run inside some COMMIT, whose caller would wait for thousands of pages.

A verb for many (`run_together`) serves all waiting requests of its kind at once. Each statement releases the GIL and
must get it back from a busy event loop, so a statement for sixty costs little more than a statement for one.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from lakestream.metadata.sqlite.connection import BUSY_SECONDS_MAX, error_for
from lakestream.metadata.sqlite.lane import Lane
from lakestream.metadata.sqlite.turn import WriterTurn
from lakestream.metadata.sqlite.waiting import (
    A,
    Done,
    Failed,
    Outcome,
    T,
    Together,
    Verb,
    Waiting,
    WaitingAlone,
    WaitingTogether,
)
from lakestream.model.errors import Overloaded, StoreUnavailable
from lakestream.world.clock import Clock

GROUP_VERBS_MAX = 64
"""Bounds how long one transaction keeps other processes waiting."""

GATHERED_MAX = 64
"""Bounds how long the first callers wait for others to join."""

TOGETHER_MAX = 512
"""Bounds the requests that one verb for many serves, for the same reason."""

WAITING_VERBS_MAX = 10_000
"""A longer queue is a stall, so the caller gets an error."""

GROUPS_BEFORE_FOLDING = 64
"""About two thousand pages of log: half the size at which SQLite checkpoints by itself (connection.py)."""

_TURN_POLL_SECONDS = 0.001


class SqliteWriter:
    def __init__(
        self,
        lane: Lane,
        *,
        turn: WriterTurn,
        clock: Clock,
        on_commit: Callable[[], None],
    ) -> None:
        self._lane = lane
        self._connection = lane.connection
        self._database = lane.database
        self._turn = turn
        self._clock = clock
        self._on_commit = on_commit
        self._waiting: deque[Waiting] = deque()
        self._waiting_answers = 0
        self._open: dict[Together[Any], WaitingTogether] = {}
        """Verbs for many that have not begun. Further requests may join them."""
        self._rounds: asyncio.Task[None] | None = None
        self._unfolded_groups = 0
        self._closed = False

    async def run(self, verb: Verb[T]) -> T:
        """The verb's result, once it is durable. A caller that stops waiting does not stop its verb."""
        return await self._wait_for(verb, rings=True)

    async def run_quietly(self, verb: Verb[T]) -> T:
        """As `run`, for changes that no listener of this process waits for."""
        return await self._wait_for(verb, rings=False)

    def run_together(self, together: Together[A], ask: A) -> "asyncio.Future[None]":
        """Run the request together with all waiting requests for the same verb. Rings no alarm."""
        self._check_room()
        waiting = self._open.get(together)
        if waiting is None or len(waiting.asks) >= TOGETHER_MAX:
            waiting = self._open[together] = WaitingTogether(together)
            self._waiting.append(waiting)
        waiting.asks.append(ask)
        return self._answer_of(waiting)

    def _wait_for(self, verb: Verb[T], *, rings: bool) -> "asyncio.Future[T]":
        self._check_room()
        waiting = WaitingAlone(verb, rings=rings)
        self._waiting.append(waiting)
        return self._answer_of(waiting)

    def _check_room(self) -> None:
        if self._closed:
            raise StoreUnavailable(f"the metadata store {self._database} was closed: open it again")
        if self._waiting_answers >= WAITING_VERBS_MAX:
            raise Overloaded(f"{WAITING_VERBS_MAX} changes wait for the metadata file {self._database}: slow down")

    def _answer_of(self, waiting: Waiting) -> "asyncio.Future[Any]":
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()
        waiting.answers.append(answer)
        self._waiting_answers += 1
        if self._rounds is None:
            self._rounds = loop.create_task(self._commit_rounds(), name="sqlite-commits")
        return answer

    async def close(self) -> None:
        """Finish the waiting verbs, and take no more."""
        if self._closed:
            return
        self._closed = True
        if self._rounds is not None:
            await asyncio.gather(self._rounds, return_exceptions=True)
        self._turn.close()

    async def _commit_rounds(self) -> None:
        group: list[Waiting] = []
        try:
            while self._waiting:
                await self._gather()
                group = [self._take() for _ in range(min(len(self._waiting), GROUP_VERBS_MAX))]
                outcomes = await self._commit_in_turn([waiting.run for waiting in group])
                for waiting, outcome in zip(group, outcomes, strict=True):
                    waiting.answer(outcome)
                if any(waiting.rings for waiting in group):
                    self._on_commit()
                self._unfolded_groups += 1
                if self._unfolded_groups >= GROUPS_BEFORE_FOLDING and not self._waiting:
                    await self._lane.run(self._fold_if_our_turn)
        finally:
            self._rounds = None
            for waiting in [*group, *self._waiting]:
                waiting.give_up()  # no caller waits for ever, even if the rounds were cancelled
            self._waiting.clear()
            self._open.clear()
            self._waiting_answers = 0

    async def _gather(self) -> None:
        """Let requests join that lie in our sockets already, as long as each turn of the loop brings more. A round
        costs two thread switches and an fsync, a turn some microseconds."""
        before = 0
        while before < self._waiting_answers < GATHERED_MAX:
            before = self._waiting_answers
            await asyncio.sleep(0)

    def _take(self) -> Waiting:
        """Take the next verb; nobody can join it any more."""
        taken = self._waiting.popleft()
        self._waiting_answers -= len(taken.answers)
        if isinstance(taken, WaitingTogether) and self._open.get(taken.together) is taken:
            del self._open[taken.together]
        return taken

    async def _commit_in_turn(self, verbs: Sequence[Verb[Any]]) -> Sequence[Outcome]:
        give_up_at = self._clock.monotonic() + BUSY_SECONDS_MAX
        while (outcomes := await self._lane.run(lambda: self._commit_if_our_turn(verbs))) is None:
            if self._clock.monotonic() >= give_up_at:
                return [Failed(_locked_too_long(self._database))] * len(verbs)
            await self._clock.sleep(_TURN_POLL_SECONDS)
        return outcomes

    # --- on the writer's thread ----------------------------------------------------------------

    def _commit_if_our_turn(self, verbs: Sequence[Verb[Any]]) -> Sequence[Outcome] | None:
        if not self._turn.take():
            return None
        try:
            return self._commit(verbs)
        except sqlite3.Error as error:
            self._roll_back()
            return [Failed(error_for(error, self._database))] * len(verbs)
        finally:
            self._turn.give_back()

    def _fold_if_our_turn(self) -> None:
        """Checkpoint if it is our turn. Nobody waits for this: otherwise a later round does it."""
        if not self._turn.take():
            return
        try:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                self._unfolded_groups = 0
        finally:
            self._turn.give_back()

    def _commit(self, verbs: Sequence[Verb[Any]]) -> Sequence[Outcome]:
        self._connection.execute("BEGIN IMMEDIATE")
        if len(verbs) == 1:
            return [self._commit_only(verbs[0])]
        outcomes = [self._run_alone(verb) for verb in verbs]
        self._connection.execute("COMMIT")
        return outcomes

    def _commit_only(self, verb: Verb[Any]) -> Outcome:
        """Run a verb without a savepoint: there are no others to protect."""
        try:
            outcome = Done(verb(self._connection))
        except Exception as error:
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK")
            return self._failed(error)
        self._connection.execute("COMMIT")
        return outcome

    def _run_alone(self, verb: Verb[Any]) -> Outcome:
        self._connection.execute("SAVEPOINT verb")
        try:
            outcome: Outcome = Done(verb(self._connection))
        except Exception as error:  # an exception of a verb goes to its caller alone
            if not self._connection.in_transaction:
                raise  # SQLite has rolled everything back (disk full, I/O error): the whole group failed
            self._connection.execute("ROLLBACK TO verb")
            outcome = self._failed(error)
        self._connection.execute("RELEASE verb")
        return outcome

    def _failed(self, error: Exception) -> Failed:
        return Failed(error_for(error, self._database) if isinstance(error, sqlite3.Error) else error)

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _locked_too_long(database: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"other processes wrote to the metadata file {database} for more than {BUSY_SECONDS_MAX:g} s without a pause: "
        "try again; if it stays so, look for a stopped process that holds its '-turn' file"
    )
