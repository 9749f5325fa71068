"""Bring a topic's records into its table before somebody reads it: the promise of `lakestream.freshness=on-read`.

    load -> one read of tails -> nothing is missing: done
                              -> request compaction -> look at the tails -> the table has reached the goal: done
                                                                         -> 2 s are over: some records are missing

Each load has its own goal: the ends of the partitions at the time of the load. Loads of one topic share their looks at
the tails. They also share their requests: a topic is requested at most once a second.
"""

import asyncio
from collections.abc import Mapping
from typing import NamedTuple

from lakestream.metadata.job_store import JobStore
from lakestream.model.place import Tail
from lakestream.model.topic import PartitionId, TopicId
from lakestream.world.clock import Clock

WAIT_SECONDS_MAX = 2.0
REQUEST_SECONDS = 1.0
"""The pause between two requests for one topic: each may cost a commit and a small file."""
LOOK_SECONDS = 0.05
WAITS_MAX = 100
"""The most loads that wait at once, over all topics. Further loads are answered without waiting."""

Tails = Mapping[PartitionId, Tail]


class FreshRead(NamedTuple):
    waited: bool
    """The table may have moved since the load came."""
    lag_records: int
    """Records from before the load that are not in the table."""


class FreshReads:
    def __init__(self, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._waits = 0
        self._requested_at: dict[TopicId, float] = {}
        self._looks: dict[TopicId, asyncio.Task[Tails]] = {}

    async def bring_in(self, topic: TopicId) -> FreshRead:
        """Wait until the table has every record that the log has now, except for those of open transactions and behind
        them. Gives up after WAIT_SECONDS_MAX, and at once if no pipeline runs or too many loads wait."""
        tails: Tails = await self._jobs.tails_of_topic(topic)
        ends = {partition: tail.last_stable for partition, tail in tails.items()}
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
        """Returns the number of records that are still missing."""
        deadline = self._clock.monotonic() + WAIT_SECONDS_MAX
        while True:
            await self._request(topic)
            left = _left(ends, await self._look(topic))
            if not left or self._clock.monotonic() >= deadline:
                return left

    async def _request(self, topic: TopicId) -> None:
        now = self._clock.monotonic()
        if now - self._requested_at.get(topic, -REQUEST_SECONDS) >= REQUEST_SECONDS:
            self._requested_at[topic] = now
            await self._jobs.ask_compaction([topic])

    async def _look(self, topic: TopicId) -> Tails:
        """Returns the next tails. All loads of the topic share this look; a cancelled load does not cancel it."""
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
    """Counts the records below the ends that are not in the table. A deleted topic has none."""
    return sum(max(0, end - tails[partition].tabled_or_gone) for partition, end in ends.items() if partition in tails)
