"""One turn of a group's machine: what it may look at, and what it leaves behind to be done.

coordinator makes a Turn -> the machine decides -> the coordinator saves if `persist`, then delivers `answers`
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from lakestream.broker.groups.asks import ParkedAnswer
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.topics.topics import TopicsImage

Ticket = int
"""Stands for a request that waits: the machine keeps it and later answers it."""


class TimerKind(IntEnum):
    SESSION = 0
    JOIN = 1
    SYNC = 2
    REVOKE = 3


class Timer(NamedTuple):
    """Of one member, or ("") of the whole group."""

    kind: TimerKind
    member_id: str = ""


@dataclass(slots=True)
class Turn:
    now_ms: int
    """Monotonic."""
    limits: GroupLimits
    topics: TopicsImage
    answers: list[tuple[Ticket, ParkedAnswer]] = field(default_factory=list)
    persist: bool = False

    def answer(self, ticket: Ticket, answer: ParkedAnswer) -> None:
        self.answers.append((ticket, answer))
