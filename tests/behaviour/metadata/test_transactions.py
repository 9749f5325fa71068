"""Transactions: who may write, what their end does in one step, and what readers and compaction see of them."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import (
    ProducerFenced,
    UnknownTransactionalId,
    WrongTransactionState,
)
from lakestream.model.place import PartitionView, Span
from lakestream.model.segment import ADDED_BEFORE, ADDED_BY_WRITING, BatchResult, BatchStatus, SegmentBatch
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    EPOCH_MAX,
    MARKER_BYTES,
    AbortedRange,
    EndedTransaction,
    Outcome,
    ProducerAsk,
    ProducerIdentity,
    TransactionalProducer,
    TransactionPartition,
    TransactionState,
    is_marker,
    marker_of,
)
from tests.behaviour.metadata.stage import Stage, batch, laid_out, results_of

TIMEOUT_MS = 60_000


class Writer:
    """A transactional producer that talks to the store itself."""

    def __init__(self, stage: Stage, store: MetadataStore, lease: BrokerLease, id: str = "tx") -> None:
        self.stage, self.store, self.lease, self.id = stage, store, lease, id
        self.identity = ProducerIdentity(-1, -1)
        self._sequences: dict[PartitionId, int] = {}

    async def begin(self, known: ProducerIdentity | None = None) -> "Writer":
        (spare,) = await self.store.take_producer_ids(1)
        ask = ProducerAsk(transactional_id=self.id, timeout_ms=TIMEOUT_MS, known=known, spare_producer_id=spare)
        self._go_on_as((await self.store.transactions.begin_producer(ask)).identity)
        return self

    @property
    def producer(self) -> TransactionalProducer:
        return TransactionalProducer(self.id, *self.identity)

    def batch(self, partition: PartitionId, records: int = 1, kind: int = ADDED_BY_WRITING) -> SegmentBatch:
        sequence = self._sequences.get(partition, 0)
        self._sequences[partition] = sequence + records
        return batch(partition, records=records, producer=(*self.identity, sequence))._replace(transaction=kind)

    async def write(self, partition: PartitionId, records: int = 1, kind: int = ADDED_BY_WRITING) -> BatchResult:
        written = self.batch(partition, records, kind)
        (result,) = results_of(await self.store.commit_segment(self.stage.commit(self.lease, written)))
        return result

    async def end(self, *, committed: bool = True, bump: bool = True, spare: int | None = None) -> tuple[int, ...]:
        ending = await self.store.transactions.end(
            self.producer, committed=committed, bump=bump, spare_producer_id=spare
        )
        self._go_on_as(ending.identity)
        return ending.partitions

    def _go_on_as(self, identity: ProducerIdentity) -> None:
        if identity != self.identity:
            self._sequences.clear()
        self.identity = identity


async def view_of(store: MetadataStore, partition: PartitionId, offset: int = 0) -> PartitionView:
    (view,) = await store.views([ViewAsk(partition, offset, 1_000)])
    assert view is not None
    return view


# --- the end ---------------------------------------------------------------------------------------


def test_the_end_writes_a_marker_to_every_partition_at_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second, untouched = (await stage.topic(store, 3)).partitions
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        await writer.write(first, 3)
        await writer.write(second, 2)
        assert [(await view_of(store, each)).tail.last_stable for each in (first, second)] == [0, 0]
        assert await writer.end() == (first, second)
        for partition, end in ((first, 3), (second, 2)):
            tail, spans, aborted = await view_of(store, partition)
            assert (tail.next_offset, tail.last_stable, aborted) == (end + 1, end + 1, ())
            marker = spans[-1]
            assert isinstance(marker, Span)
            assert (marker.base_offset, marker.last_offset, marker.length) == (end, end, MARKER_BYTES)
            assert marker_of(marker.segment)[:3] == (*writer.identity, True)
            assert not is_marker(spans[0].segment)
        sizes = await store.tails([first, untouched])
        assert sizes[first].bytes == 100 + MARKER_BYTES
        assert sizes[untouched].tail.next_offset == 0

    stage.run(scenario)


def test_an_aborted_transaction_is_listed_until_its_marker_has_been_read(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        one, two = [await Writer(stage, store, lease, id).begin() for id in ("one", "two")]
        await one.write(partition, 2)
        await two.write(partition, 3)
        await one.write(partition)
        producer = one.identity.producer_id
        await one.end(committed=False)
        assert (await view_of(store, partition)).tail.last_stable == 2
        await two.end()
        aborted = AbortedRange(producer, 0, 6)
        assert (await view_of(store, partition)).aborted == (aborted,)
        assert (await view_of(store, partition, 6)).aborted == (aborted,)
        assert (await view_of(store, partition, 7)).aborted == ()
        assert await store.transactions.ended({partition: 1_000}, [partition]) == [
            EndedTransaction(partition, producer, 0, 0, 6, False),
            EndedTransaction(partition, two.identity.producer_id, 0, 2, 7, True),
        ]

    stage.run(scenario)


def test_a_repeated_end_reads_what_became_of_the_first(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        for bump in (True, False):
            await writer.write(partition)
            before = writer.identity
            await writer.end(bump=bump)
            after, next_offset = writer.identity, (await view_of(store, partition)).tail.next_offset
            assert after == (before._replace(epoch=before.epoch + 1) if bump else before)
            writer.identity = before
            assert await writer.end(bump=bump) == ()
            assert (writer.identity, (await view_of(store, partition)).tail.next_offset) == (after, next_offset)
            writer.identity = before
            with pytest.raises(WrongTransactionState):
                await writer.end(committed=False, bump=bump)
            writer.identity = after

    stage.run(scenario)


def test_there_is_nothing_to_commit_without_a_transaction(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        for bump in (True, False):
            with pytest.raises(WrongTransactionState):
                await writer.end(bump=bump)
        with pytest.raises(UnknownTransactionalId):
            await Writer(stage, store, await stage.broker(store), "nobody").end()
        before = writer.identity
        await writer.end(committed=False)
        assert writer.identity.epoch == before.epoch + 1, "an abort bumps the epoch, even if nothing was written"

    stage.run(scenario)


def test_a_producer_whose_epochs_are_used_up_gets_another_id(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        while writer.identity.epoch < 3:
            await writer.begin()
        (spare,) = await store.take_producer_ids(1)
        await writer.write(partition)
        await writer.end(spare=spare)
        assert writer.identity.epoch == 4, "a spare id is used only at the end of the epochs"
        assert EPOCH_MAX == 2**15 - 1

    stage.run(scenario)


# --- fencing ---------------------------------------------------------------------------------------


def test_a_new_producer_aborts_what_was_open_and_fences_the_old_one(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        old = await Writer(stage, store, lease).begin()
        await old.write(partition, 4)
        new = await Writer(stage, store, lease).begin()
        assert new.identity == (old.identity.producer_id, old.identity.epoch + 1)
        view = await view_of(store, partition)
        assert (view.tail.last_stable, view.aborted) == (5, (AbortedRange(old.identity.producer_id, 0, 4),))
        assert (await old.write(partition)).status is BatchStatus.STALE_EPOCH
        with pytest.raises(ProducerFenced):
            await old.end()
        with pytest.raises(ProducerFenced):
            await old.begin(known=old.identity)
        assert (await new.write(partition)).base_offset == 5

    stage.run(scenario)


def test_a_producer_that_lost_the_answer_gets_the_same_identity_again(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        first = writer.identity
        await writer.begin(known=first)
        second = writer.identity
        assert second.epoch == first.epoch + 1
        await writer.begin(known=first)
        assert writer.identity == second

    stage.run(scenario)


def test_a_transaction_that_is_open_for_too_long_is_aborted_and_its_producer_fenced(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store, ttl_ms=10 * TIMEOUT_MS)
        writer = await Writer(stage, store, lease).begin()
        await writer.write(partition)
        assert await store.transactions.abort_timed_out() is None
        stage.pass_time(TIMEOUT_MS + 1)
        (stuck,) = await store.transactions.open_longer_than(1_000, 10)
        assert (stuck.transactional_id, stuck.timeout_ms, len(stuck.topics)) == ("tx", TIMEOUT_MS, 1)
        assert await store.transactions.abort_timed_out() == (partition,)
        assert await store.transactions.abort_timed_out() is None
        assert (await view_of(store, partition)).tail.last_stable == 2
        with pytest.raises(ProducerFenced):
            await writer.end()
        with pytest.raises(ProducerFenced):
            await writer.begin(known=writer.identity)

    stage.run(scenario)


def test_an_administrator_aborts_a_transaction_by_its_producer(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        await writer.write(partition)
        producer, epoch = writer.identity
        assert await store.transactions.abort_producer(producer, epoch - 1) == ()
        assert await store.transactions.abort_producer(producer, epoch) == (partition,)
        assert await store.transactions.abort_producer(producer, epoch) == ()

    stage.run(scenario)


# --- batches ---------------------------------------------------------------------------------------


def test_a_batch_of_version_1_needs_its_partition_added_before(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        assert (await writer.write(first, kind=ADDED_BEFORE)).status is BatchStatus.NOT_IN_TRANSACTION
        writer = await writer.begin()
        await store.transactions.add_partitions(writer.producer, [first, first])
        assert await store.transactions.has_partitions(writer.producer, [first, second]) == [True, False]
        assert (await writer.write(first, kind=ADDED_BEFORE)).status is BatchStatus.STORED
        assert (await writer.write(second, kind=ADDED_BEFORE)).status is BatchStatus.NOT_IN_TRANSACTION
        assert await writer.end(bump=False) == (first,)
        assert (await writer.write(first, kind=ADDED_BEFORE)).status is BatchStatus.NOT_IN_TRANSACTION

    stage.run(scenario)


def test_a_refused_batch_leaves_its_neighbours_alone_and_is_refused_again(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        writer = await Writer(stage, store, lease).begin()
        unknown = batch(partition, producer=(9_999_999, 0, 0))._replace(transaction=ADDED_BY_WRITING)
        commit = stage.commit(lease, *laid_out(batch(partition, records=2), unknown, writer.batch(partition, 3)))
        fate = await store.commit_segment(commit)
        assert [result.status for result in results_of(fate)] == [
            BatchStatus.STORED,
            BatchStatus.UNKNOWN_TRANSACTION,
            BatchStatus.STORED,
        ]
        assert await store.commit_segment(commit) == fate
        view = await view_of(store, partition)
        assert [(span.base_offset, span.last_offset) for span in view.spans] == [(0, 1), (2, 4)]
        assert (view.tail.next_offset, view.tail.last_stable) == (5, 2)

    stage.run(scenario)


def test_a_duplicate_does_not_begin_a_transaction(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        writer = await Writer(stage, store, lease).begin()
        await store.transactions.add_partitions(writer.producer, [partition])
        written = writer.batch(partition, kind=ADDED_BEFORE)
        await store.commit_segment(stage.commit(lease, written))
        await writer.end(bump=False)
        await store.transactions.add_partitions(writer.producer, [partition])
        (again,) = results_of(await store.commit_segment(stage.commit(lease, written)))
        assert (again.status, again.base_offset) == (BatchStatus.DUPLICATE, 0)
        assert await writer.end(bump=False) == ()

    stage.run(scenario)


def test_commits_and_ends_at_the_same_time_leave_whole_transactions(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partitions = (await stage.topic(store, 3)).partitions
        lease = await stage.broker(store)

        async def work(id: str) -> None:
            writer = await Writer(stage, store, lease, id).begin()
            for turn in range(5):
                await asyncio.gather(*(writer.write(partition, 2) for partition in partitions))
                await writer.end(committed=turn % 2 == 0)

        await asyncio.gather(*(work(f"w{number}") for number in range(4)))
        ended = await store.transactions.ended(dict.fromkeys(partitions, 1_000_000), partitions)
        parts: dict[tuple[int, int], set[bool]] = {}
        for each in ended:
            parts.setdefault((each.producer_id, each.number), set()).add(each.committed)
        assert len(ended) == 4 * 5 * 3
        assert all(len(outcomes) == 1 for outcomes in parts.values())
        for partition in partitions:
            assert (await view_of(store, partition)).tail[1:] == (4 * 5 * 3, 0, None)

    stage.run(scenario)


# --- questions and the end of ids ------------------------------------------------------------------


def test_transactions_and_producers_are_described(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 2)
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        await writer.write(topic.partitions[1], 3)
        described = await store.transactions.describe("tx")
        assert described is not None
        assert (described.producer, described.state) == (writer.identity, TransactionState.ONGOING)
        assert described.partitions == (TransactionPartition(topic.name, 1),)
        (active,) = await store.transactions.active_producers(topic.partitions[1])
        assert (active.producer, active.last_sequence, active.first_offset) == (writer.identity, 2, 0)
        await writer.end()
        (listed,) = await store.transactions.list_ids()
        assert (listed.state, listed.outcome, listed.started_ms) == (TransactionState.EMPTY, Outcome.COMMITTED, None)
        (active,) = await store.transactions.active_producers(topic.partitions[1])
        assert active.first_offset is None
        assert await store.transactions.describe("other") is None

    stage.run(scenario)


def test_an_id_that_nobody_uses_is_forgotten_and_one_that_is_open_stays(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store, ttl_ms=1_000_000)
        idle, busy = [await Writer(stage, store, lease, id).begin() for id in ("idle", "busy")]
        await idle.write(partition)
        await idle.end()
        await busy.write(partition)
        stage.pass_time(10_000)
        assert await store.transactions.forget(5_000, 100) == 1
        assert [each.transactional_id for each in await store.transactions.list_ids()] == ["busy"]
        assert (await idle.write(partition)).status is BatchStatus.UNKNOWN_TRANSACTION
        with pytest.raises(UnknownTransactionalId):
            await idle.end(committed=False)
        await store.delete_records(partition, 2)
        assert await store.transactions.forget(5_000, 100) == 1, "what is kept of the first transaction"
        assert await store.transactions.ended({partition: 1_000}, [partition]) == []

    stage.run(scenario)


def test_a_transaction_outlives_a_topic_that_is_deleted(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        kept, deleted = await stage.topic(store), await stage.topic(store)
        writer = await Writer(stage, store, await stage.broker(store)).begin()
        await writer.write(kept.partitions[0])
        await writer.write(deleted.partitions[0])
        await store.delete_topic(deleted.id)
        assert await writer.end() == kept.partitions

    stage.run(scenario)
