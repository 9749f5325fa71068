"""One turn of a group's machine: its inputs, and the answers and saves that it leaves for the coordinator.

coordinator makes a Turn -> the machine decides -> the coordinator saves if `persist`, then delivers `answers`
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from lakestream.broker.groups.asks import ParkedAnswer
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.topics.topics import TopicsImage

Ticket = int
"""Stands for a waiting request. The machine keeps the ticket and answers it later."""


class TimerKind(IntEnum):
    SESSION = 0
    JOIN = 1
    SYNC = 2
    REVOKE = 3


class Timer(NamedTuple):
    """Belongs to one member, or to the whole group if `member_id` is ""."""

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
