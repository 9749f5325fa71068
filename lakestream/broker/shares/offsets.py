"""Offsets of share groups for administrators: how far a group is, and where it should go on.

Changes go through the group's coordinator, which knows that nobody reads, and claim every share-partition anew. A
broker that still holds one is refused at its next save.
"""

from collections.abc import Mapping, Sequence

from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.errors import GroupNotEmpty
from lakestream.broker.groups.held import HeldGroup, told_to_clients
from lakestream.broker.shares.holdings import ShareHoldings
from lakestream.broker.shares.state import ShareState
from lakestream.broker.shares.state_codec import saved_share
from lakestream.metadata.share_partition import ShareProgress
from lakestream.metadata.share_store import ShareStore
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.model.topic import TopicId


class ShareOffsets:
    def __init__(self, groups: GroupAdministration, holdings: ShareHoldings, store: ShareStore) -> None:
        self._groups = groups
        self._holdings = holdings
        self._store = store

    async def progress(self, group: str) -> Mapping[TopicPartition, ShareProgress]:
        """Raises GroupNotFound."""
        await self._groups.hold_share(group)
        return await self._store.progress(group)

    async def reset(self, group: str, starts: Mapping[TopicPartition, int]) -> None:
        """Raises GroupNotFound, GroupNotEmpty."""
        held = await self._empty(group)
        saved = {place: saved_share(ShareState(start, start)) for place, start in starts.items()}
        try:
            await self._store.reset(group, held.epoch, saved)
        except LakestreamError as error:
            raise told_to_clients(group, error) from error
        self._holdings.let_go(group)

    async def forget(self, group: str, topics: Sequence[TopicId]) -> None:
        """Raises GroupNotFound, GroupNotEmpty."""
        held = await self._empty(group)
        try:
            await self._store.forget(group, held.epoch, topics)
        except LakestreamError as error:
            raise told_to_clients(group, error) from error
        self._holdings.let_go(group)

    async def _empty(self, name: str) -> HeldGroup:
        held, group = await self._groups.hold_share(name)
        if not group.is_empty:
            raise GroupNotEmpty(f"share group '{name}' has members: stop them first")
        return held
