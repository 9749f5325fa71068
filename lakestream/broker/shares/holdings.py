"""The share-partitions that this broker holds: claimed on first use, dropped when another broker claims them.

Any broker serves any share-partition: whoever is asked claims it, and the store refuses the next save of the former
owner. Clients ask the leader that Metadata names, so this happens when brokers come and go.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from lakestream.broker.groups.errors import GroupNotFound
from lakestream.broker.offsets import Offsets
from lakestream.broker.shares.asks import SharedPartition
from lakestream.broker.shares.held import HeldShare, ShareSaver
from lakestream.broker.shares.limits import ShareLimits
from lakestream.broker.shares.state import ShareState
from lakestream.broker.shares.state_codec import decode_share
from lakestream.broker.shares.store_clock import StoreClock
from lakestream.metadata.share_partition import ShareClaim, ShareKey
from lakestream.metadata.share_store import ShareStore
from lakestream.model.broker import BrokerLease
from lakestream.model.configs.group_configs import EARLIEST, LATEST, ShareConfig
from lakestream.model.errors import LakestreamError, Overloaded, UnknownPartition
from lakestream.model.group import TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

Hold = HeldShare | LakestreamError


class ShareHoldings:
    def __init__(
        self,
        *,
        store: ShareStore,
        offsets: Offsets,
        lease: Callable[[], BrokerLease],
        limits: ShareLimits,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self.clock = StoreClock(clock)
        self._store = store
        self._offsets = offsets
        self._lease = lease
        self._limits = limits
        self._saver = ShareSaver(store, self.clock, tasks, self._lost)
        self._held: dict[ShareKey, HeldShare] = {}
        self._claiming = asyncio.Lock()

    async def hold(
        self, group: str, partitions: Sequence[SharedPartition], config: ShareConfig
    ) -> Mapping[TopicPartition, Hold]:
        """Each share-partition, claimed if it was not held, or the error why it is not ours. Raises GroupNotFound,
        and what the store raises."""
        if self._missing(group, partitions):
            async with self._claiming:  # others may have claimed some of them meanwhile
                missing = self._missing(group, partitions)
                failed = await self._claim(group, missing, config) if missing else {}
        else:
            failed = {}
        now_ms = self.clock.now_ms()
        found: dict[TopicPartition, Hold] = {}
        for one in partitions:
            held = self._held.get(ShareKey(group, *one.place))
            if held is not None:
                held.used_ms = now_ms
            found[one.place] = held or failed.get(one.place) or UnknownPartition("the partition was deleted")
        return found

    def save(self, held: HeldShare) -> "asyncio.Future[None]":
        return self._saver.save(held)

    def let_go(self, group: str) -> None:
        """The group's state in the store was replaced. Whoever waits for a save of the former one is refused by it."""
        for held in [one for key, one in self._held.items() if key.group == group]:
            self._lost(held)

    def _missing(self, group: str, partitions: Sequence[SharedPartition]) -> list[SharedPartition]:
        return [one for one in partitions if ShareKey(group, *one.place) not in self._held]

    async def _claim(
        self, group: str, partitions: Sequence[SharedPartition], config: ShareConfig
    ) -> dict[TopicPartition, LakestreamError]:
        self._make_room(len(partitions))
        claims = await self._store.claim(group, [one.place for one in partitions], self._lease())
        if claims is None:
            raise GroupNotFound(f"there is no share group '{group}'")
        self.clock.heard(claims.now_ms)
        failed: dict[TopicPartition, LakestreamError] = {}
        for one in partitions:
            claim = claims.claims.get(one.place)
            if claim is None:
                continue
            try:
                await self._take_up(ShareKey(group, *one.place), claim, one.partition, config)
            except LakestreamError as error:
                failed[one.place] = error
        return failed

    async def _take_up(self, key: ShareKey, claim: ShareClaim, partition: PartitionId, config: ShareConfig) -> None:
        """A share-partition that nobody has read begins where the group's config says. That is saved before anything
        is answered, or the next owner might begin elsewhere."""
        if claim.state is None:
            start = await self._start(partition, config)
            state = ShareState(start, start)
        else:
            state = decode_share(claim.state)
        held = HeldShare(key, claim.epoch, state, used_ms=self.clock.now_ms())
        if claim.state is None:
            held.must_be_saved()
        self._held[key] = held

    async def _start(self, partition: PartitionId, config: ShareConfig) -> int:
        tail = await self._offsets.tail(partition)
        if config.reset == EARLIEST:
            return tail.log_start
        if config.reset == LATEST or config.reset_ms is None:
            return tail.next_offset
        found = await self._offsets.at_time(partition, self.clock.now_ms() - config.reset_ms)
        return tail.next_offset if found.offset < 0 else found.offset

    def _make_room(self, wanted: int) -> None:
        if len(self._held) + wanted <= self._limits.held_max:
            return
        idle = sorted((held for held in self._held.values() if held.is_idle), key=lambda held: held.used_ms)
        for held in idle[: max(wanted, self._limits.held_max // 10)]:
            del self._held[held.key]
        if len(self._held) + wanted > self._limits.held_max:
            raise Overloaded(f"this broker serves {self._limits.held_max} share-partitions: add a broker")

    def _lost(self, held: HeldShare) -> None:
        if self._held.get(held.key) is held:
            del self._held[held.key]
