"""A GroupStore in memory, to test coordinators with: each verb one step, as slow and as faulty as it is told."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakestream.model.broker import BrokerLease
from lakestream.model.errors import IllegalGeneration, NotCoordinator, StoreUnavailable
from lakestream.model.group import (
    NO_GENERATION,
    CommittedOffset,
    GroupClaim,
    GroupKind,
    ListedGroup,
    PartitionLag,
    SavedGroup,
    TopicPartition,
)
from lakestream.world.chance import Chance, SeededChance


@dataclass
class Row:
    epoch: int
    owner: int
    saved: SavedGroup | None = None
    offsets: dict[TopicPartition, CommittedOffset] = field(default_factory=dict)


@dataclass
class MemoryGroupStore:
    """`fault_rate`: how often a write fails, half of the time after it was done, which its caller cannot know."""

    chance: Chance = field(default_factory=lambda: SeededChance(0))
    delay_seconds: float = 0.0
    commit_delay_seconds: float = 0.0
    """On top, for commits: they are many, and some arrive late."""
    fault_rate: float = 0.0
    rows: dict[str, Row] = field(default_factory=dict)
    last_epoch: int = 0
    saves: int = 0
    refused: int = 0

    async def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        await self._pause()
        if group not in self.rows and not create:
            return None
        self.last_epoch += 1
        row = self.rows.setdefault(group, Row(0, 0))
        row.epoch, row.owner = self.last_epoch, lease.broker_id
        return GroupClaim(epoch=row.epoch, state=None if row.saved is None else row.saved.state)

    async def save_group(self, group: str, epoch: int, saved: SavedGroup) -> None:
        lost = await self._pause_and_fail()
        self._owned(group, epoch).saved = saved
        self.saves += 1
        self._fail_after(lost)

    async def commit_offsets(
        self,
        group: str,
        epoch: int,
        *,
        generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
        retention_ms: int | None,
    ) -> None:
        await asyncio.sleep(self.chance.uniform(0, self.commit_delay_seconds))
        lost = await self._pause_and_fail()
        row = self._owned(group, epoch)
        if generation != NO_GENERATION and row.saved is not None and row.saved.generation > generation:
            raise IllegalGeneration(f"generation {generation} has passed")
        self._replace(row, offsets)
        self._fail_after(lost)

    async def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        await self._pause()
        offsets = self.rows[group].offsets if group in self.rows else {}
        return {one: offset for one, offset in offsets.items() if partitions is None or one in partitions}

    async def delete_offsets(self, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> None:
        await self._pause()
        offsets = self._owned(group, epoch).offsets
        for partition in partitions:
            offsets.pop(partition, None)

    async def list_groups(self) -> list[ListedGroup]:
        await self._pause()
        return [_listed(name, row) for name, row in sorted(self.rows.items())]

    async def delete_groups(self, owned: Mapping[str, int]) -> frozenset[str]:
        await self._pause()
        gone = frozenset(name for name, epoch in owned.items() if name in self.rows and self.rows[name].epoch == epoch)
        for name in gone:
            del self.rows[name]
        return gone

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        raise NotImplementedError("expiry is the real stores' own: their behaviour suite covers it")

    async def lags(self, limit: int) -> list[PartitionLag]:
        raise NotImplementedError("lags need the log, which only the real stores have")

    def _replace(self, row: Row, offsets: Mapping[TopicPartition, CommittedOffset]) -> None:
        row.offsets.update(offsets)

    def _owned(self, group: str, epoch: int) -> Row:
        row = self.rows.get(group)
        if row is None or row.epoch != epoch:
            self.refused += 1
            raise NotCoordinator(f"group '{group}' is owned under another epoch than {epoch}")
        return row

    async def _pause(self) -> None:
        await asyncio.sleep(self.chance.uniform(0, self.delay_seconds))

    async def _pause_and_fail(self) -> bool:
        """Fails before the write; or says that its answer will be lost after it."""
        await self._pause()
        if self.chance.uniform(0, 1) >= self.fault_rate:
            return False
        if self.chance.uniform(0, 1) < 0.5:
            raise StoreUnavailable("the store did not answer")
        return True

    def _fail_after(self, lost: bool) -> None:
        if lost:
            raise StoreUnavailable("the store's answer was lost")


def _listed(name: str, row: Row) -> ListedGroup:
    if row.saved is None:
        return ListedGroup(group=name, kind=GroupKind.CLASSIC, protocol_type="", empty=True)
    saved = row.saved
    return ListedGroup(group=name, kind=saved.kind, protocol_type=saved.protocol_type, empty=saved.empty)
