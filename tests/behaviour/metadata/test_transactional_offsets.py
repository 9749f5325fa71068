"""Offsets of groups in a transaction: kept until it commits, of members that may commit, for topics that exist."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import IllegalGeneration, NotCoordinator, WrongTransactionState
from lakestream.model.group import (
    NO_GENERATION,
    CommittedOffset,
    GroupKind,
    PendingOffsets,
    SavedGroup,
    TopicPartition,
)
from lakestream.model.transaction import TransactionState
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.metadata.test_transactions import Writer


def test_offsets_count_when_the_transaction_commits_and_never_if_it_aborts(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        place = TopicPartition(topic.id, 0)
        lease = await stage.broker(store)
        writer = await Writer(stage, store, lease).begin()
        claim = await store.groups.claim_group("g", lease, create=True)
        assert claim is not None
        pending = PendingOffsets(
            group="g", epoch=claim.epoch, generation=NO_GENERATION, offsets={place: CommittedOffset(7)}
        )
        with pytest.raises(WrongTransactionState):
            await store.transactions.add_offsets(writer.producer, pending, begins=False)
        await store.transactions.begin(writer.producer)
        for offset in (7, 8):
            kept = replace(pending, offsets={place: CommittedOffset(offset, 0, "é")})
            await store.transactions.add_offsets(writer.producer, kept, begins=False)
        assert await store.groups.fetch_offsets("g", None) == {}
        assert await store.transactions.pending_offsets("g") == frozenset({place})
        assert await writer.end() == ()
        assert await store.transactions.pending_offsets("g") == frozenset()
        assert await store.groups.fetch_offsets("g", None) == {place: CommittedOffset(8, 0, "é")}
        assert "g" in [listed.group for listed in await store.groups.list_groups()]
        await store.transactions.add_offsets(writer.producer, pending, begins=True)
        await writer.end(committed=False)
        assert await store.groups.fetch_offsets("g", None) == {place: CommittedOffset(8, 0, "é")}

    stage.run(scenario)


def test_an_old_coordinator_and_an_old_generation_add_no_offsets_to_a_transaction(stage: Stage) -> None:
    """A member that was paused while its group went on must not commit what another one reads again."""

    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        lease = await stage.broker(store)
        writer = await Writer(stage, store, lease).begin()
        old = await store.groups.claim_group("g", lease, create=True)
        now = await store.groups.claim_group("g", lease, create=False)
        assert old is not None
        assert now is not None
        await store.groups.save_group(
            "g",
            now.epoch,
            SavedGroup(
                kind=GroupKind.CLASSIC,
                protocol_type="consumer",
                generation=5,
                empty=False,
                subscribed=None,
                state=b"s",
            ),
        )
        offsets = {TopicPartition(topic.id, 0): CommittedOffset(7)}

        async def add(epoch: int, generation: int) -> None:
            pending = PendingOffsets(group="g", epoch=epoch, generation=generation, offsets=offsets)
            await store.transactions.add_offsets(writer.producer, pending, begins=True)

        with pytest.raises(NotCoordinator):
            await add(old.epoch, 5)
        with pytest.raises(IllegalGeneration):
            await add(now.epoch, 4)
        assert await store.transactions.pending_offsets("g") == frozenset()
        described = await store.transactions.describe("tx")
        assert described is not None
        assert described.state is TransactionState.EMPTY, "what was refused began nothing"
        await add(now.epoch, 5)
        await writer.end()
        assert await store.groups.fetch_offsets("g", None) == offsets

    stage.run(scenario)


def test_offsets_of_a_topic_that_is_gone_are_not_committed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        kept, deleted = await stage.topic(store), await stage.topic(store)
        lease = await stage.broker(store)
        writer = await Writer(stage, store, lease).begin()
        claim = await store.groups.claim_group("g", lease, create=True)
        assert claim is not None
        offsets = {TopicPartition(topic.id, 0): CommittedOffset(7) for topic in (kept, deleted)}
        pending = PendingOffsets(group="g", epoch=claim.epoch, generation=NO_GENERATION, offsets=offsets)
        await store.transactions.add_offsets(writer.producer, pending, begins=True)
        await store.delete_topic(deleted.id)
        await writer.end()
        assert await store.groups.fetch_offsets("g", None) == {TopicPartition(kept.id, 0): CommittedOffset(7)}
        stage.pass_time(10_000)
        assert await store.groups.expire_offsets(5_000, 100) == 1, "nothing is left of the deleted topic's"

    stage.run(scenario)
