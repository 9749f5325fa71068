"""Repairs: what someone asks to be done with values that were set aside, and what became of it.

asked (gateway) -> done | failed (pipeline)        kept for an hour, for whoever waits for the answer
"""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from lakestream.model.errors import Exhausted
from lakestream.model.topic import TopicId

RepairId = str
"""A ULID."""

RecordPlace = tuple[int, int]
"""Partition and offset of a record."""


class RepairAction(StrEnum):
    RETRY = "retry"
    DISCARD = "discard"


class RepairState(IntEnum):
    """Stored: numbers are never reused."""

    ASKED = 1
    DONE = 2
    FAILED = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    id: RepairId
    topic: TopicId
    request: str
    """What to do, as JSON: the asker and the pipeline understand it, the store does not."""
    state: RepairState = RepairState.ASKED
    answer: str | None = None
    """JSON once it is done; a message if it failed."""


class TooManyRepairs(Exhausted):
    """As many repairs wait as may. Is a pipeline running?"""
