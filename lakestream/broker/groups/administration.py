"""Requests about groups that do not change membership: offsets, descriptions, lists, deletion.

The store holds the offsets. Every commit and every read goes there; the coordinator only decides who may commit.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from lakestream.broker.groups.asks import CONSUMER_PROTOCOL, SHARE_PROTOCOL
from lakestream.broker.groups.classic.group import ClassicGroup, ClassicPhase
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.describe import (
    ClassicDescription,
    ConsumerDescription,
    GroupListing,
    ShareDescription,
    describe_classic,
    describe_consumer,
    describe_share,
    listing,
)
from lakestream.broker.groups.errors import (
    CoordinatorLoading,
    CoordinatorNotAvailable,
    GroupNotFound,
    OffsetMetadataTooLarge,
    SubscribedToTopic,
)
from lakestream.broker.groups.held import HeldGroup, told_to_clients
from lakestream.broker.groups.holdings import Holdings
from lakestream.broker.groups.offsets import (
    CommitAsk,
    OffsetFetchAsk,
    check_commit,
    check_delete_group,
    check_delete_offsets,
    check_fetch,
)
from lakestream.broker.groups.share.group import ShareGroup
from lakestream.metadata.group_store import GroupStore
from lakestream.model.errors import (
    LakestreamError,
    NotCoordinator,
    ProducerFenced,
    Unavailable,
    UnknownTransactionalId,
    WrongTransactionState,
)
from lakestream.model.group import CommittedOffset, GroupKind, ListedGroup, PendingOffsets, TopicPartition

T = TypeVar("T")


class BegunCommit(NamedTuple):
    refused: Mapping[TopicPartition, LakestreamError]
    stored: "asyncio.Future[None] | None"
    """The write of the partitions that were not refused, if there are any. It fails with the store's errors;
    `told_to_clients` translates them."""


class GroupAdministration:
    def __init__(self, holdings: Holdings, store: GroupStore) -> None:
        self._holdings = holdings
        self._store = store

    # --- offsets -------------------------------------------------------------------------------

    async def commit(self, ask: CommitAsk) -> Mapping[TopicPartition, LakestreamError]:
        """Commit all partitions that are allowed, and return the others. Raises errors of the whole request."""
        begun = self._begin(await self._holdings.hold(ask.group, create=ask.generation < 0), ask)
        if begun.stored is not None:
            await _done(ask.group, begun.stored)
        return begun.refused

    def begin_commit(self, ask: CommitAsk) -> BegunCommit | None:
        """As `commit`, without a task of its own. None if the group must be claimed first: use `commit` then."""
        held = self._holdings.in_hand(ask.group)
        return None if held is None else self._begin(held, ask)

    def _begin(self, held: HeldGroup | None, ask: CommitAsk) -> BegunCommit:
        generation = check_commit(None if held is None else held.machine.group, ask, self._holdings.now_ms())
        assert held is not None
        refused = _too_long(ask.offsets, self._holdings.limits.offset_metadata_max)
        accepted = ask.offsets
        if refused:
            accepted = {partition: offset for partition, offset in ask.offsets.items() if partition not in refused}
        if not accepted:
            return BegunCommit(refused, None)
        commit = self._store.commit_offsets(
            held.name, held.epoch, generation=generation, offsets=accepted, retention_ms=ask.retention_ms
        )
        return BegunCommit(refused, _followed(held, commit))

    async def commit_in_transaction(
        self, ask: CommitAsk, keep: Callable[[PendingOffsets], Awaitable[None]]
    ) -> Mapping[TopicPartition, LakestreamError]:
        """Check the member as in `commit`, and let `keep` hold the allowed offsets until the transaction ends. Returns
        the other partitions.

        The group follows this write as it does a commit: a member that joins later must find the offsets pending."""
        held = await self._holdings.hold(ask.group, create=ask.generation < 0)
        generation = check_commit(None if held is None else held.machine.group, ask, self._holdings.now_ms())
        assert held is not None
        refused = _too_long(ask.offsets, self._holdings.limits.offset_metadata_max)
        accepted = {place: offset for place, offset in ask.offsets.items() if place not in refused}
        pending = PendingOffsets(group=ask.group, epoch=held.epoch, generation=generation, offsets=accepted)
        wrong = await _done(ask.group, _followed(held, _wrong_producer(keep(pending))))
        if wrong is not None:
            raise wrong
        return refused

    async def fetch(
        self, ask: OffsetFetchAsk, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        """The committed offsets. Partitions without an offset, and those of an unknown group, are absent: -1, not an
        error.

        Any broker may answer, since every acknowledged offset is in the store. So this never refers a client to another
        coordinator, and on a failure it tells the client to ask the same broker again. librdkafka needs this: a member
        whose request is refused in another way never asks again, and sits on its partitions without reading them."""
        try:
            held = await self._holdings.hold(ask.group)
            check_fetch(None if held is None else held.machine.group, ask)
            if held is None:
                return {}
        except NotCoordinator:
            pass  # the coordinator checks the membership
        except CoordinatorNotAvailable as error:
            raise CoordinatorLoading(str(error)) from error
        return await self._read(ask.group, partitions)

    async def _read(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        try:
            return await self._store.fetch_offsets(group, partitions)
        except Unavailable as error:
            raise CoordinatorLoading(f"the offsets of group '{group}' could not be read: {error}") from error

    async def delete_offsets(
        self, group: str, partitions: Mapping[TopicPartition, str]
    ) -> dict[TopicPartition, LakestreamError]:
        """Delete the offsets of these partitions (given with their topics' names). Returns the refused ones."""
        held = await self._holdings.hold(group)
        subscribed = check_delete_offsets(None if held is None else held.machine.group, group)
        assert held is not None
        refused: dict[TopicPartition, LakestreamError] = {
            partition: SubscribedToTopic(f"members of group '{group}' read topic '{name}': stop them first")
            for partition, name in partitions.items()
            if name in subscribed
        }
        deleted = [partition for partition in partitions if partition not in refused]
        await _done(group, _followed(held, self._store.delete_offsets(group, held.epoch, deleted)))
        return refused

    # --- groups --------------------------------------------------------------------------------

    async def describe_classic(self, group: str) -> ClassicDescription:
        """Raises GroupNotFound, also for a group of the other protocol."""
        held = await self._holdings.hold(group)
        if held is None or not isinstance(held.machine.group, ClassicGroup):
            raise GroupNotFound(f"Group {group} is not a classic group." if held else f"Group {group} not found.")
        return describe_classic(held.machine.group)

    async def describe_consumer(self, group: str) -> ConsumerDescription:
        held = await self._holdings.hold(group)
        if held is None or not isinstance(held.machine.group, ConsumerGroup):
            raise GroupNotFound(f"Group {group} is not a consumer group." if held else f"Group {group} not found.")
        return describe_consumer(held.machine.group)

    async def describe_share(self, group: str) -> ShareDescription:
        return describe_share((await self.hold_share(group))[1])

    async def hold_share(self, group: str) -> tuple[HeldGroup, ShareGroup]:
        """Raises GroupNotFound, also for a group of another protocol."""
        held = await self._holdings.hold(group)
        if held is None or not isinstance(held.machine.group, ShareGroup):
            raise GroupNotFound(f"Group {group} is not a share group." if held else f"Group {group} not found.")
        return held, held.machine.group

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
        removed = await _done(group, _followed(held, self._store.delete_groups({group: held.epoch})))
        held.lose(NotCoordinator(f"group '{group}' was deleted"))
        if group not in removed:
            raise NotCoordinator(f"another broker coordinates group '{group}' now: ask which one")

    def _is_ours(self, group: str) -> bool:
        try:
            self._holdings.check_ours(group)
        except NotCoordinator:
            return False
        return True


def _too_long(
    offsets: Mapping[TopicPartition, CommittedOffset], length_max: int
) -> dict[TopicPartition, LakestreamError]:
    refused: dict[TopicPartition, LakestreamError] = {}
    for partition, offset in offsets.items():
        if offset.metadata and len(offset.metadata.encode()) > length_max:
            refused[partition] = OffsetMetadataTooLarge(
                f"the metadata of a committed offset has more than {length_max} bytes"
            )
    return refused


def _followed(held: HeldGroup, write: Awaitable[T]) -> "asyncio.Future[T]":
    """Start a write under the group's epoch, which the group follows (`HeldGroup.follow`)."""
    begun = asyncio.ensure_future(write)
    held.follow(begun)
    return begun


async def _wrong_producer(kept: Awaitable[None]) -> LakestreamError | None:
    """The error of the producer's own, if there is one. It says nothing about the group."""
    try:
        await kept
    except (ProducerFenced, UnknownTransactionalId, WrongTransactionState) as error:
        return error
    return None


async def _done(group: str, write: "asyncio.Future[T]") -> T:
    """Wait for the write. An unavailable store becomes an unavailable coordinator: clients know how to go on from that.

    A client that disconnects does not cancel its write. A cancelled write could still land, after later ones."""
    try:
        return await asyncio.shield(write)
    except LakestreamError as error:
        raise told_to_clients(group, error) from error


def _unheld(group: ListedGroup) -> GroupListing:
    """The listing of a group that nobody has asked for since it came to this broker, as a claim would restore it."""
    known = {GroupKind.CONSUMER: CONSUMER_PROTOCOL, GroupKind.SHARE: SHARE_PROTOCOL}
    return GroupListing(
        group=group.group,
        kind=group.kind,
        protocol_type=known.get(group.kind, group.protocol_type),
        phase=ClassicPhase.EMPTY if group.empty else ClassicPhase.STABLE,
    )
