"""GroupStore: the metadata store's verbs for consumer groups, each of them one transaction.

A group's row holds its owner's epoch. Claiming a group raises the epoch, and every write checks it. So a coordinator
that was overtaken changes nothing, however late its writes arrive. Epochs are never reused, not even for a group that
was deleted and came back. All times are the store's own.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from lakestream.model.broker import BrokerLease
from lakestream.model.group import CommittedOffset, GroupClaim, ListedGroup, PartitionLag, SavedGroup, TopicPartition


class GroupStore(Protocol):
    async def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        """Become the group's owner under a new epoch, whoever owned it before. Without `create`: None if there is no
        such group. With it: the group begins empty and without state. Raises BrokerFenced if the lease is not
        current."""
        ...

    async def save_group(self, group: str, epoch: int, saved: SavedGroup) -> None:
        """Replace the group's state, and note since when the group has been empty. Raises NotCoordinator."""
        ...

    def commit_offsets(
        self,
        group: str,
        epoch: int,
        *,
        generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
        retention_ms: int | None,
    ) -> Awaitable[None]:
        """Replace the offsets of these partitions. `retention_ms` comes from the client (OffsetCommit 2-4); None means
        the broker's. Raises NotCoordinator. Raises IllegalGeneration if the saved generation is above `generation` and
        that is not NO_GENERATION: the group has moved on while the commit was under way."""
        ...

    async def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        """Committed offsets of these partitions, or of all (None). A partition without a committed offset is absent,
        and so is one that no longer exists."""
        ...

    async def lags(self, limit: int) -> list[PartitionLag]:
        """Lags of all groups, by group, topic and partition; at most `limit`. Deleted records do not count."""
        ...

    async def delete_offsets(self, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> None:
        """Raises NotCoordinator."""
        ...

    async def list_groups(self) -> list[ListedGroup]:
        """All groups, by name."""
        ...

    async def delete_groups(self, owned: Mapping[str, int]) -> frozenset[str]:
        """Remove these groups and their offsets. Returns those removed; the others are owned under another epoch."""
        ...

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        """Drop at most `limit` offsets that nobody needs, then groups that are empty and have neither offsets nor
        share-partitions. Returns how
        many offsets were dropped.

        An offset is kept for `retention_ms` (or its own retention) after its commit and, in a group that had members,
        after the group became empty. In a group with members, only offsets of topics it does not subscribe to expire;
        if its topics are not known, none do. Offsets of partitions that no longer exist are dropped at once.
        """
        ...
