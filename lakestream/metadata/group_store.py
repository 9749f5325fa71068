"""What the metadata store does for consumer groups: verbs, each of them one transaction.

A group's row holds its owner's epoch. Claiming a group raises it; every write checks it, so a coordinator that was
overtaken changes nothing, however late its writes arrive. Epochs are never reused, also not for a group that was
deleted and came back. All times are the store's own.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Protocol

from lakestream.model.broker import BrokerLease
from lakestream.model.group import CommittedOffset, GroupClaim, ListedGroup, PartitionLag, SavedGroup, TopicPartition


class GroupStore(Protocol):
    async def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        """Become the group's owner under a new epoch, whoever owned it before. Without `create`, None if there is no
        such group; with it, the group begins as an empty one without state. Raises BrokerFenced if the lease is not
        current."""
        ...

    async def save_group(self, group: str, epoch: int, saved: SavedGroup) -> None:
        """Replace the group's state. Notes since when it has been empty. Raises NotCoordinator."""
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
        """Replace the offsets of these partitions. `retention_ms` is the client's own wish (OffsetCommit 2-4), or
        None for the broker's. Raises NotCoordinator; IllegalGeneration if the saved generation is above `generation`
        and that is not NO_GENERATION: the group has moved on while the commit was under way."""
        ...

    async def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        """What is committed for these partitions, or for all (None). Absent: nothing is. Offsets of partitions that
        no longer exist are not shown."""
        ...

    async def lags(self, limit: int) -> list[PartitionLag]:
        """Of all groups, by group, topic and partition; at most `limit`. Records that were deleted do not count."""
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
        """Drop at most `limit` offsets that nobody needs, then groups that are empty and have none. Returns how many
        offsets went.

        An offset is kept for `retention_ms` (or its own retention) after its commit and, in a group that had members,
        after the group became empty. In a group with members only offsets of topics it does not subscribe to expire;
        where its topics are not known, none do. Offsets of partitions that no longer exist go at once.
        """
        ...
