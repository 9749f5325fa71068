"""Delays topics whose last job failed, longer each time, so that other topics need not wait for them.

A user who asks for such a topic may just have repaired it, and waits less. But a request stays until it is granted, so
even then there is a pause.
"""

from collections.abc import Collection
from typing import NamedTuple

from lakestream.model.topic import TopicId
from lakestream.world.clock import Clock

SECONDS_FIRST = 2.0
SECONDS_MAX = 60.0
ASKED_SECONDS_MAX = 5.0


class Rest(NamedTuple):
    since: float
    seconds: float


class Resting:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rests: dict[TopicId, Rest] = {}

    def __len__(self) -> int:
        return len(self._rests)

    def begin(self, topic: TopicId) -> float:
        """The topic's job failed. Returns the seconds until the next try."""
        before = self._rests.get(topic)
        seconds = SECONDS_FIRST if before is None else min(2 * before.seconds, SECONDS_MAX)
        self._rests[topic] = Rest(self._clock.monotonic(), seconds)
        return seconds

    def end(self, topic: TopicId) -> None:
        """The topic's job was committed."""
        self._rests.pop(topic, None)

    def keep(self, topics: Collection[TopicId]) -> None:
        """Forget all other topics: they have nothing left to do, or are gone."""
        self._rests = {topic: rest for topic, rest in self._rests.items() if topic in topics}

    def rests(self, topic: TopicId, *, asked: bool) -> bool:
        if (rest := self._rests.get(topic)) is None:
            return False
        seconds = min(rest.seconds, ASKED_SECONDS_MAX) if asked else rest.seconds
        return self._clock.monotonic() - rest.since < seconds
