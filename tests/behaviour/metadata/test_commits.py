"""commit_segment: offsets, spans, and the one fate of a segment."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import BrokerFenced
from lakestream.model.place import Span, Tail
from lakestream.model.segment import Abandoned, BatchResult, BatchStatus, Committed
from lakestream.model.topic import PartitionId
from tests.behaviour.metadata.stage import TTL_MS, Stage, batch, laid_out, results_of


async def spans_of(store: MetadataStore, partition: PartitionId) -> tuple[Span, ...]:
    (view,) = await store.views([ViewAsk(partition, 0, 10_000)])
    assert view is not None
    return view.spans


def test_batches_take_offsets_in_their_order(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        lease = await stage.broker(store)
        batches = laid_out(batch(first, records=3), batch(first, records=2), batch(second, records=4))
        fate = await store.commit_segment(stage.commit(lease, *batches))
        assert results_of(fate) == (
            BatchResult(BatchStatus.STORED, 0, -1, 0),
            BatchResult(BatchStatus.STORED, 3, -1, 0),
            BatchResult(BatchStatus.STORED, 0, -1, 0),
        )
        fate = await store.commit_segment(stage.commit(lease, batch(first, records=7)))
        assert results_of(fate)[0].base_offset == 5
        sizes = await store.tails([first, second])
        assert (sizes[first].tail, sizes[first].bytes) == (Tail(0, 12, 0), 300)
        assert (sizes[second].tail, sizes[second].bytes) == (Tail(0, 4, 0), 100)

    stage.run(scenario)


def test_neighbouring_batches_become_one_span(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        batches = laid_out(batch(partition, time=5), batch(partition, records=2, time=9), batch(partition, time=7))
        commit = stage.commit(await stage.broker(store), *batches)
        await store.commit_segment(commit)
        assert await spans_of(store, partition) == (Span(0, 3, commit.segment, 4, 300, 9, -1),)

    stage.run(scenario)


def test_batches_apart_in_the_segment_are_two_spans(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(await stage.broker(store), batch(partition, 4), batch(partition, 105))
        await store.commit_segment(commit)
        assert [(span.base_offset, span.at) for span in await spans_of(store, partition)] == [(0, 4), (1, 105)]

    stage.run(scenario)


def test_an_interleaved_partition_keeps_its_span(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        lease = await stage.broker(store)
        await store.commit_segment(stage.commit(lease, batch(first, 4), batch(second, 204), batch(first, 104)))
        assert [(span.at, span.length) for span in await spans_of(store, first)] == [(4, 200)]

    stage.run(scenario)


def test_a_refused_batch_splits_the_span(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        refused = batch(partition, producer=(9, 0, 5))
        batches = laid_out(batch(partition, records=2), refused, batch(partition, records=3))
        fate = await store.commit_segment(stage.commit(await stage.broker(store), *batches))
        assert [result.status for result in results_of(fate)] == [
            BatchStatus.STORED,
            BatchStatus.UNKNOWN_PRODUCER,
            BatchStatus.STORED,
        ]
        spans = await spans_of(store, partition)
        assert [(span.base_offset, span.last_offset, span.at) for span in spans] == [(0, 1, 4), (2, 4, 204)]
        assert (await store.tails([partition]))[partition].bytes == 200

    stage.run(scenario)


def test_another_append_time_splits_the_span(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        times = (70, 70, 71, -1)
        batches = laid_out(*(batch(partition, append_ms=time) for time in times))
        fate = await store.commit_segment(stage.commit(await stage.broker(store), *batches))
        assert tuple(result.append_ms for result in results_of(fate)) == times
        spans = await spans_of(store, partition)
        assert [(span.base_offset, span.append_ms) for span in spans] == [(0, 70), (2, 71), (3, -1)]

    stage.run(scenario)


def test_results_carry_the_log_start(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        await store.commit_segment(stage.commit(lease, batch(partition, records=10)))
        await store.delete_records(partition, 4)
        fate = await store.commit_segment(stage.commit(lease, batch(partition)))
        assert results_of(fate) == (BatchResult(BatchStatus.STORED, 10, -1, 4),)

    stage.run(scenario)


def test_a_repeated_commit_reads_the_fate_and_changes_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(
            await stage.broker(store),
            *laid_out(batch(partition, records=3), batch(partition, producer=(1, 0, 0)), batch(partition + 99)),
        )
        fate = await store.commit_segment(commit)
        assert await store.commit_segment(commit) == fate
        assert await store.abandon_segment(commit.segment) == fate
        assert (await store.tails([partition]))[partition].tail == Tail(0, 4, 0)

    stage.run(scenario)


def test_a_fate_can_be_read_also_by_one_who_was_fenced_meanwhile(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(await stage.broker(store), batch(partition))
        fate = await store.commit_segment(commit)
        await stage.broker(store)
        assert await store.commit_segment(commit) == fate

    stage.run(scenario)


def test_an_abandoned_segment_is_never_committed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(await stage.broker(store), batch(partition))
        assert await store.abandon_segment(commit.segment) == Abandoned()
        assert await store.abandon_segment(commit.segment) == Abandoned()
        assert await store.commit_segment(commit) == Abandoned()
        assert (await store.tails([partition]))[partition].tail == Tail(0, 0, 0)

    stage.run(scenario)


def test_commit_and_abandon_at_once_agree_on_one_fate(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        committed = 0
        for _ in range(10):
            commit = stage.commit(lease, batch(partition))
            fates = await asyncio.gather(
                store.abandon_segment(commit.segment), store.commit_segment(commit), store.commit_segment(commit)
            )
            assert fates[0] == fates[1] == fates[2]
            committed += isinstance(fates[0], Committed)
        assert (await store.tails([partition]))[partition].tail.next_offset == committed

    stage.run(scenario)


def test_a_lease_that_ran_out_cannot_commit(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(await stage.broker(store), batch(partition))
        stage.pass_time(TTL_MS + 1)
        with pytest.raises(BrokerFenced):
            await store.commit_segment(commit)
        assert await store.unknown_segments([commit.segment]) == [commit.segment]
        assert (await store.tails([partition]))[partition].tail == Tail(0, 0, 0)

    stage.run(scenario)


def test_a_fenced_commit_harms_no_other(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        old, new = await stage.broker(store), await stage.broker(store)
        commits = [stage.commit(lease, batch(partition)) for lease in (new, old) * 5]
        fates = await asyncio.gather(*map(store.commit_segment, commits), return_exceptions=True)
        assert [isinstance(fate, BrokerFenced) for fate in fates] == [False, True] * 5
        assert (await store.tails([partition]))[partition].tail == Tail(0, 5, 0)

    stage.run(scenario)


def test_a_segment_may_be_empty(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        commit = stage.commit(await stage.broker(store))
        assert await store.commit_segment(commit) == Committed(results=())
        stage.pass_time(1_000)
        assert await store.deletable_segments(10, 10) == [commit.segment]

    stage.run(scenario)


def test_commits_at_once_give_dense_offsets(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partitions = (await stage.topic(store, 3)).partitions
        lease = await stage.broker(store)
        stores = [store, await stage.open(), await stage.open()] if stage.shared else [store]
        commits = [
            stage.commit(lease, *laid_out(*(batch(partition, records=1 + i % 3) for partition in partitions)))
            for i in range(30)
        ]
        fates = await asyncio.gather(
            *(stores[i % len(stores)].commit_segment(commit) for i, commit in enumerate(commits))
        )
        for number, partition in enumerate(partitions):
            taken = sorted(
                (results_of(fate)[number].base_offset, commit.batches[number].records)
                for fate, commit in zip(fates, commits, strict=True)
            )
            ends = [base + records for base, records in taken]
            assert [base for base, _ in taken] == [0, *ends[:-1]]
            assert (await store.tails([partition]))[partition].tail.next_offset == ends[-1]
            spans = await spans_of(store, partition)
            assert [span.base_offset for span in spans] == [0, *(span.last_offset + 1 for span in spans[:-1])]

    stage.run(scenario)


def test_two_thousand_partitions_fit_in_one_commit(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partitions = (await stage.topic(store, 2_000)).partitions
        lease = await stage.broker(store)
        for sequence in range(2):
            batches = laid_out(*(batch(partition, producer=(3, 0, sequence)) for partition in partitions))
            fate = await store.commit_segment(stage.commit(lease, *batches))
            assert {result[:2] for result in results_of(fate)} == {(BatchStatus.STORED, sequence)}
        sizes = await store.tails(partitions)
        assert {size.tail for size in sizes.values()} == {Tail(0, 2, 0)}
        views = await store.views([ViewAsk(partition, 1, 5) for partition in partitions])
        assert all(view is not None and len(view.spans) == 1 for view in views)

    stage.run(scenario)


def test_receipted_segments_lose_their_results_but_not_their_fate(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        earlier = stage.commit(lease, batch(partition))
        given_up = stage.ids.ulid()
        await store.commit_segment(earlier)
        await store.abandon_segment(given_up)
        receipts = (earlier.segment, given_up, stage.ids.ulid())
        await store.commit_segment(stage.commit(lease, batch(partition), receipts=receipts))
        assert await store.commit_segment(earlier) == Committed(results=())
        assert await store.abandon_segment(given_up) == Abandoned()
        assert (await store.tails([partition]))[partition].tail == Tail(0, 2, 0)

    stage.run(scenario)


def test_everything_survives_opening_again(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        if not stage.shared:
            return
        topic = await stage.topic(store)
        commit = stage.commit(await stage.broker(store), batch(topic.partitions[0], records=5))
        fate = await store.commit_segment(commit)
        again = await stage.open()
        assert (await again.topics()).topics == (topic,)
        assert await again.commit_segment(commit) == fate
        assert await spans_of(again, topic.partitions[0]) == await spans_of(store, topic.partitions[0])

    stage.run(scenario)
