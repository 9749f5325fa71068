"""What is asked of groups beside membership: offsets, descriptions, lists, deletion.

Offsets are the store's: they are committed and read there, each time; the coordinator only says who may.
"""

from collections.abc import Awaitable, Mapping, Sequence
from typing import TypeVar

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.describe import (
    ClassicDescription,
    ConsumerDescription,
    GroupListing,
    describe_classic,
    describe_consumer,
    listing,
)
from lakestream.broker.groups.errors import (
    CoordinatorNotAvailable,
    GroupNotFound,
    OffsetMetadataTooLarge,
    SubscribedToTopic,
)
from lakestream.broker.groups.held import HeldGroup, told_to_clients
from lakestream.broker.groups.holdings import Holdings
from lakestream.broker.groups.offsets import (
    CommitAsk,
    FetchAsk,
    check_commit,
    check_delete_group,
    check_delete_offsets,
    check_fetch,
)
from lakestream.metadata.group_store import GroupStore
from lakestream.model.errors import LakestreamError, NotCoordinator
from lakestream.model.group import CommittedOffset, GroupKind, ListedGroup, TopicPartition

T = TypeVar("T")


class GroupAdministration:
    def __init__(self, holdings: Holdings, store: GroupStore) -> None:
        self._holdings = holdings
        self._store = store

    # --- offsets -------------------------------------------------------------------------------

    async def commit(self, ask: CommitAsk) -> dict[TopicPartition, LakestreamError]:
        """Commit what can be; returns the partitions that were refused. Raises what concerns the whole request."""
        held = await self._holdings.hold(ask.group, create=ask.generation < 0)
        generation = check_commit(None if held is None else held.machine.group, ask, self._holdings.turn())
        assert held is not None
        refused = _too_long(ask.offsets, self._holdings.limits.offset_metadata_max)
        accepted = {partition: offset for partition, offset in ask.offsets.items() if partition not in refused}
        if accepted:
            with held.committing():
                await self._store_commit(held, ask, generation, accepted)
        return refused

    async def fetch(
        self, ask: FetchAsk, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        """What is committed; absent partitions, and those of an unknown group, have no offset: -1, not an error."""
        held = await self._holdings.hold(ask.group)
        check_fetch(None if held is None else held.machine.group, ask)
        return {} if held is None else await _read(ask.group, self._store.fetch_offsets(ask.group, partitions))

    async def delete_offsets(
        self, group: str, partitions: Mapping[TopicPartition, str]
    ) -> dict[TopicPartition, LakestreamError]:
        """Delete the offsets of these partitions (given with their topics' names); returns those refused."""
        held = await self._holdings.hold(group)
        subscribed = check_delete_offsets(None if held is None else held.machine.group, group)
        assert held is not None
        refused: dict[TopicPartition, LakestreamError] = {
            partition: SubscribedToTopic(f"members of group '{group}' read topic '{name}': stop them first")
            for partition, name in partitions.items()
            if name in subscribed
        }
        deleted = [partition for partition in partitions if partition not in refused]
        with held.committing():
            await _written(held, self._store.delete_offsets(group, held.epoch, deleted))
        return refused

    # --- groups --------------------------------------------------------------------------------

    async def describe_classic(self, group: str) -> ClassicDescription:
        """Raises GroupNotFound: also for a group of the other protocol."""
        held = await self._holdings.hold(group)
        if held is None or not isinstance(held.machine.group, ClassicGroup):
            raise GroupNotFound(f"Group {group} is not a classic group." if held else f"Group {group} not found.")
        return describe_classic(held.machine.group)

    async def describe_consumer(self, group: str) -> ConsumerDescription:
        held = await self._holdings.hold(group)
        if held is None or isinstance(held.machine.group, ClassicGroup):
            raise GroupNotFound(f"Group {group} is not a consumer group." if held else f"Group {group} not found.")
        return describe_consumer(held.machine.group)

    async def list(self) -> list[GroupListing]:
        """The groups that this broker coordinates; clients ask every broker."""
        held = {one.name: one for one in self._holdings.all()}
        listed = [group for group in await self._store.list_groups() if self._is_ours(group.group)]
        return [listing(held[one.group].machine.group) if one.group in held else _unheld(one) for one in listed]

    async def delete(self, group: str) -> None:
        """Raises GroupNotFound, GroupNotEmpty."""
        held = await self._holdings.hold(group)
        check_delete_group(None if held is None else held.machine.group, group)
        assert held is not None
        removed = await _written(held, self._store.delete_groups({group: held.epoch}))
        held.lose(NotCoordinator(f"group '{group}' was deleted"))
        if group not in removed:
            raise NotCoordinator(f"another broker coordinates group '{group}' now: ask which one")

    def _is_ours(self, group: str) -> bool:
        try:
            self._holdings.check_ours(group)
        except NotCoordinator:
            return False
        return True

    async def _store_commit(
        self, held: HeldGroup, ask: CommitAsk, generation: int, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> None:
        commit = self._store.commit_offsets(
            held.name, held.epoch, generation=generation, offsets=offsets, retention_ms=ask.retention_ms
        )
        await _written(held, commit)


def _too_long(
    offsets: Mapping[TopicPartition, CommittedOffset], length_max: int
) -> dict[TopicPartition, LakestreamError]:
    error = OffsetMetadataTooLarge(f"the metadata of a committed offset has more than {length_max} bytes")
    return {partition: error for partition, offset in offsets.items() if len(offset.metadata.encode()) > length_max}


async def _read(group: str, read: Awaitable[T]) -> T:
    """A store that does not answer is a coordinator that is not available: clients know how to go on from that."""
    try:
        return await read
    except LakestreamError as error:
        raise told_to_clients(group, error) from error


async def _written(held: HeldGroup, write: Awaitable[T]) -> T:
    """A write under the group's epoch. If another broker has taken the group over, this one lets go of it; also if the
    store did not answer: the write may still be under way, and only the epoch of another claim keeps it from landing
    after later ones."""
    try:
        return await write
    except LakestreamError as error:
        told = told_to_clients(held.name, error)
        if isinstance(told, NotCoordinator | CoordinatorNotAvailable):
            held.lose(told)
        raise told from error


def _unheld(group: ListedGroup) -> GroupListing:
    """Nobody has asked for it since it came to this broker: as it would be taken up."""
    is_classic = group.kind is GroupKind.CLASSIC
    return GroupListing(
        group=group.group,
        kind=group.kind,
        protocol_type=group.protocol_type if is_classic else CONSUMER_PROTOCOL,
        phase=ClassicPhase.EMPTY if group.empty else ClassicPhase.STABLE,
    )
