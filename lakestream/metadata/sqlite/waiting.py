"""The writer's queue entries: a verb of one caller, or a verb for many callers that do the same."""

import asyncio
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lakestream.model.errors import LakestreamError

T = TypeVar("T")
A = TypeVar("A")

Verb = Callable[[sqlite3.Connection], T]

Together = Callable[[sqlite3.Connection, Sequence[A]], Sequence[LakestreamError | None]]
"""A verb for many. Returns the error of each request, in their order. If it raises, all have failed."""


@dataclass(frozen=True, slots=True)
class Done:
    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    error: Exception


Outcome = Done | Failed

_STORED = Done(None)


class Waiting(ABC):
    """Must not refer to itself, not even by a bound method. Otherwise each round would leave cycles to the garbage
    collector, and these were most of its work in a busy broker."""

    __slots__ = ("answers",)
    rings = False

    def __init__(self) -> None:
        self.answers: list[asyncio.Future[Any]] = []

    @abstractmethod
    def run(self, connection: sqlite3.Connection) -> Any: ...

    @abstractmethod
    def answer(self, outcome: Outcome) -> None: ...

    def give_up(self) -> None:
        for answer in self.answers:
            answer.cancel()


class WaitingAlone(Waiting):
    __slots__ = ("_verb", "rings")

    def __init__(self, verb: Verb[Any], *, rings: bool) -> None:
        super().__init__()
        self._verb = verb
        self.rings = rings

    def run(self, connection: sqlite3.Connection) -> Any:
        return self._verb(connection)

    def answer(self, outcome: Outcome) -> None:
        _fill(self.answers[0], outcome)


class WaitingTogether(Waiting):
    __slots__ = ("asks", "together")

    def __init__(self, together: Together[Any]) -> None:
        super().__init__()
        self.together = together
        self.asks: list[Any] = []

    def run(self, connection: sqlite3.Connection) -> Sequence[LakestreamError | None]:
        return self.together(connection, self.asks)

    def answer(self, outcome: Outcome) -> None:
        if isinstance(outcome, Failed):
            for answer in self.answers:
                _fill(answer, outcome)
            return
        for answer, error in zip(self.answers, outcome.value, strict=True):
            _fill(answer, _STORED if error is None else Failed(error))


def _fill(answer: "asyncio.Future[Any]", outcome: Outcome) -> None:
    if answer.done():
        return  # its caller was cancelled meanwhile
    if isinstance(outcome, Done):
        answer.set_result(outcome.value)
    else:
        answer.set_exception(outcome.error)
