"""What waits for the writer: a verb of one caller, or a verb for many that do the same."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lakestream.model.errors import LakestreamError

T = TypeVar("T")
A = TypeVar("A")

Verb = Callable[[sqlite3.Connection], T]

Together = Callable[[sqlite3.Connection, Sequence[A]], Sequence[LakestreamError | None]]
"""A verb for many: what went wrong with each ask, in their order. If it raises, all have failed."""


@dataclass(frozen=True, slots=True)
class Done:
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    error: Exception


Outcome = Done | Failed


class Waiting:
    __slots__ = ("answers", "rings", "verb")

    def __init__(self, verb: Verb[Any], *, rings: bool) -> None:
        self.verb = verb
        self.rings = rings
        self.answers: list[asyncio.Future[Any]] = []

    def answer(self, outcome: Outcome) -> None:
        _fill(self.answers[0], outcome)

    def give_up(self) -> None:
        for answer in self.answers:
            answer.cancel()


class WaitingTogether(Waiting):
    __slots__ = ("asks", "together")

    def __init__(self, together: Together[Any]) -> None:
        super().__init__(self._run, rings=False)
        self.together = together
        self.asks: list[Any] = []

    def answer(self, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            outcomes: list[Outcome] = [outcome] * len(self.asks)
        else:
            outcomes = [Done(None) if error is None else Failed(error) for error in outcome.value]
        for answer, own in zip(self.answers, outcomes, strict=True):
            _fill(answer, own)

    def _run(self, connection: sqlite3.Connection) -> Sequence[LakestreamError | None]:
        return self.together(connection, self.asks)


def _fill(answer: "asyncio.Future[Any]", outcome: Outcome) -> None:
    if answer.done():
        return  # the caller was cancelled meanwhile
    match outcome:
        case Done(value):
            answer.set_result(value)
        case Failed(error):
            answer.set_exception(error)
