"""Bring a topic's records into its table before somebody reads it: what `lakestream.freshness=on-read` promises.

    load -> one read of tails -> nothing is missing: done
                              -> a wish for compaction -> looks at the tails -> the ends of then are in the table: done
                                                                             -> 2 s are over: so many are missing

Every load has its own goal: the ends that the partitions had when it came. Loads of one topic share their looks at the
tails, and the wishes, of which there is at most one a second.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from lakestream.metadata.job_store import JobStore
from lakestream.model.place import Tail
from lakestream.model.topic import PartitionId, TopicId
from lakestream.world.clock import Clock

WAIT_SECONDS_MAX = 2.0
WISH_SECONDS = 1.0
"""Between wishes for one topic: each of them may cost a commit and a small file."""
LOOK_SECONDS = 0.05
WAITS_MAX = 100
"""Loads that wait at once, of all topics together. More are answered without waiting."""

Tails = Mapping[PartitionId, Tail]


class FreshRead(NamedTuple):
    waited: bool
    """The table may have moved since the load came."""
    lag_records: int
    """How many of the records from before the load are not in the table."""


class FreshReads:
    def __init__(self, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._waits = 0
        self._wished_at: dict[TopicId, float] = {}
        self._looks: dict[TopicId, asyncio.Task[Tails]] = {}

    async def bring_in(self, topic: TopicId) -> FreshRead:
        """Wait until the table has everything that was in the log at the call. Gives up when that takes too long, and
        at once where no pipeline runs or too many wait."""
        tails: Tails = await self._jobs.tails_of_topic(topic)
        ends = {partition: tail.next_offset for partition, tail in tails.items()}
        left = _left(ends, tails)
        if not left:
            return FreshRead(waited=False, lag_records=0)
        if self._waits >= WAITS_MAX or await self._jobs.compaction_holder() is None:
            return FreshRead(waited=False, lag_records=left)
        self._waits += 1
        try:
            return FreshRead(waited=True, lag_records=await self._wait(topic, ends))
        finally:
            self._waits -= 1

    async def _wait(self, topic: TopicId, ends: Mapping[PartitionId, int]) -> int:
        """How many records are missing in the end."""
        deadline = self._clock.monotonic() + WAIT_SECONDS_MAX
        while True:
            await self._wish(topic)
            left = _left(ends, await self._look(topic))
            if not left or self._clock.monotonic() >= deadline:
                return left

    async def _wish(self, topic: TopicId) -> None:
        now = self._clock.monotonic()
        if now - self._wished_at.get(topic, -WISH_SECONDS) >= WISH_SECONDS:
            self._wished_at[topic] = now
            await self._jobs.ask_compaction([topic])

    async def _look(self, topic: TopicId) -> Tails:
        """The next look, which all loads of the topic share. A load that goes away does not end it for the others."""
        look = self._looks.get(topic)
        if look is None:
            look = asyncio.get_running_loop().create_task(self._next_tails(topic), name="fresh-read")
            self._looks[topic] = look
        return await asyncio.shield(look)

    async def _next_tails(self, topic: TopicId) -> Tails:
        try:
            await self._clock.sleep(LOOK_SECONDS)
            return await self._jobs.tails_of_topic(topic)
        finally:
            del self._looks[topic]


def _left(ends: Mapping[PartitionId, int], tails: Tails) -> int:
    """Records below the ends that are not in the table. A topic that was deleted meanwhile has none."""
    return sum(max(0, end - tails[partition].tabled_or_gone) for partition, end in ends.items() if partition in tails)
