"""Two lanes into the log: fast topics are flushed at once, diskless ones when there is PUT credit.

    batch -> the lane of its topic's profile -> Wal (its own open segment, its own order of commits)

Lanes do not wait for each other, so a fast batch never waits for the upload of a diskless one. When a topic changes its
profile, the first flush with its batches on the new lane waits until all that was appended to the old lane before has
its fate. So the order within a partition stays.
"""

import asyncio

from lakestream.model.configs.profile import Profile
from lakestream.model.segment import BatchResult
from lakestream.model.topic import PartitionId
from lakestream.storage.wal.batch import WalBatch
from lakestream.storage.wal.flusher import Wal

PARTITIONS_NOTED_MAX = 100_000
"""Partitions whose lane is remembered, before those on an idle lane are forgotten."""


class WalLanes:
    def __init__(self, *, fast: Wal, diskless: Wal) -> None:
        self._lanes = {Profile.FAST: fast, Profile.DISKLESS: diskless}
        self._lane_of: dict[PartitionId, Wal] = {}

    def start(self) -> None:
        for lane in self._lanes.values():
            lane.start()

    def append(self, batch: WalBatch, profile: Profile) -> "asyncio.Future[BatchResult]":
        """Take the batch into an open segment. The future resolves to the batch's result."""
        lane = self._lanes[profile]
        if (before := self._lane_of.get(batch.partition)) is not lane:
            if before is not None and (settled := before.settled()) is not None:
                lane.follow(settled)
            self._note(batch.partition, lane)
        return lane.append(batch)

    async def close(self) -> None:
        """Flush what is buffered, wait until every batch has its answer, and leave the receipts behind."""
        await asyncio.gather(*(lane.close() for lane in self._lanes.values()))

    def _note(self, partition: PartitionId, lane: Wal) -> None:
        """Remember the partition's lane. A lane that holds nothing need not be remembered: nobody has to follow it."""
        if len(self._lane_of) >= PARTITIONS_NOTED_MAX:
            busy = [each for each in self._lanes.values() if each.settled() is not None]
            self._lane_of = {noted: its for noted, its in self._lane_of.items() if its in busy}
        self._lane_of[partition] = lane
