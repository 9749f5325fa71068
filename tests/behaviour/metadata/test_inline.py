"""Inline segments: bytes that lie in the store with their offsets, and move into an object later."""

import asyncio

import pytest

from lakestream.metadata.inline_store import FATES_KEPT_MS
from lakestream.metadata.rules.moving import MERGED_BYTES_MAX
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import BrokerFenced, SegmentAbandoned
from lakestream.model.inline import InlineAtRest, InlineMove, InlineStretch, MovedSpan
from lakestream.model.place import Span
from lakestream.model.segment import Abandoned, BatchStatus, SegmentCommit
from lakestream.model.topic import PartitionId
from tests.behaviour.metadata.stage import FIRST_AT, Stage, batch, results_of

EVERYTHING = 1 << 30


async def spans_of(store: MetadataStore, partition: PartitionId) -> tuple[Span, ...]:
    (view,) = await store.views([ViewAsk(partition, 0, 10_000)])
    assert view is not None
    return view.spans  # type: ignore[return-value]


async def everything(store: MetadataStore) -> InlineStretch:
    return await store.inline.oldest(bytes_max=EVERYTHING, segments_max=10_000)


def move_of(stage: Stage, stretch: InlineStretch) -> InlineMove:
    """All spans of the stretch, one behind the other in a new object."""
    moved, at = [], FIRST_AT
    for home in stretch.spans:
        moved.append(MovedSpan(home.partition, home.span.last_offset, home.span.segment, at))
        at += home.span.length
    return InlineMove(segment=stage.ids.ulid(), bytes=at, spans=moved)


async def written(
    stage: Stage, store: MetadataStore, flushes: int
) -> tuple[PartitionId, BrokerLease, list[SegmentCommit]]:
    (partition,) = (await stage.topic(store)).partitions
    lease = await stage.broker(store)
    commits = [stage.inline_commit(lease, batch(partition, records=10, time=n)) for n in range(flushes)]
    for commit in commits:
        await store.commit_segment(commit)
    return partition, lease, commits


# --- committing and reading --------------------------------------------------------------------------


def test_an_inline_commit_gives_offsets_and_keeps_the_bytes(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        lease = await stage.broker(store)
        commit = stage.inline_commit(lease, batch(first, records=3), batch(first, records=2), batch(second, length=7))
        results = results_of(await store.commit_segment(commit))
        assert [result.base_offset for result in results] == [0, 3, 0]
        assert await spans_of(store, first) == (Span(0, 4, commit.segment, 0, 200, 1_000, -1),)
        assert await spans_of(store, second) == (Span(0, 0, commit.segment, 200, 7, 1_000, -1),)
        assert await store.inline.read([commit.segment, "inline-nothing"]) == {commit.segment: commit.inline}
        assert (await store.wal_size())[2] == 207
        await store.commit_segment(stage.commit(lease, batch(first)))
        assert [span.base_offset for span in await spans_of(store, first)] == [0, 5], "objects and inline bytes mix"

    stage.run(scenario)


def test_a_repeated_inline_commit_finds_what_the_first_one_did(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.inline_commit(await stage.broker(store), batch(partition, records=3))
        first, *repeats = await asyncio.gather(*(store.commit_segment(commit) for _ in range(4)))
        assert repeats == [first] * 3
        assert (await store.tails([partition]))[partition].tail.next_offset == 3
        assert len((await everything(store)).data) == 1
        await store.inline.move(move_of(stage, await everything(store)))
        assert await store.commit_segment(commit) == first, "its bytes have moved meanwhile"
        assert await everything(store) == InlineStretch(spans=[], data={})

    stage.run(scenario)


def test_an_inline_segment_that_was_given_up_keeps_no_bytes(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.inline_commit(await stage.broker(store), batch(partition))
        assert await store.abandon_segment(commit.segment) == Abandoned()
        assert await store.commit_segment(commit) == Abandoned()
        assert await store.inline.read([commit.segment]) == {}
        assert await spans_of(store, partition) == ()

    stage.run(scenario)


def test_an_inline_commit_without_a_lease_changes_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        fenced = await stage.broker(store)
        await stage.broker(store)
        commit = stage.inline_commit(fenced, batch(partition))
        with pytest.raises(BrokerFenced):
            await store.commit_segment(commit)
        assert await store.inline.read([commit.segment]) == {}
        assert await store.unknown_segments([commit.segment]) == [commit.segment]

    stage.run(scenario)


def test_a_flush_of_which_nothing_was_stored_leaves_no_bytes(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        refused = batch(partition, producer=(9, 0, 5))
        commit = stage.inline_commit(await stage.broker(store), refused)
        assert results_of(await store.commit_segment(commit))[0].status is BatchStatus.UNKNOWN_PRODUCER
        assert await store.inline.at_rest() == InlineAtRest(0, 0, None)

    stage.run(scenario)


# --- going -------------------------------------------------------------------------------------------


def test_inline_bytes_go_with_the_last_span_that_needs_them(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 2)
        first, second = topic.partitions
        lease = await stage.broker(store)
        shared = stage.inline_commit(lease, batch(first, records=10), batch(second, records=10))
        await store.commit_segment(shared)
        await store.delete_records(first, 10)
        assert await store.inline.read([shared.segment]), "the neighbour needs them"
        dropped = await store.apply_retention(second, expired_before_ms=5_000, bytes_max=None, spans_max=10)
        assert (dropped, await store.inline.read([shared.segment])) == (1, {})
        again = stage.inline_commit(lease, batch(first), batch(second))
        await store.commit_segment(again)
        await store.delete_topic(topic.id)
        assert await store.inline.at_rest() == InlineAtRest(0, 0, None)

    stage.run(scenario)


def test_a_dead_inline_segment_has_no_object_to_delete_and_its_fate_is_forgotten_after_a_while(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _, (first, second) = await written(stage, store, 2)
        await store.delete_records(partition, 10)
        stage.pass_time(FATES_KEPT_MS - 1_000)
        assert await store.deletable_segments(0, 100) == []
        assert await store.inline.forget(100) == 0
        stage.pass_time(2_000)
        assert await store.inline.forget(100) == 1
        assert await store.unknown_segments([first.segment, second.segment]) == [first.segment]
        assert await store.inline.forget(100) == 0, "the other one lives"

    stage.run(scenario)


# --- moving ------------------------------------------------------------------------------------------


def test_a_move_gives_all_spans_a_new_place_and_frees_the_bytes(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        lease = await stage.broker(store)
        commits = [stage.inline_commit(lease, batch(first, records=2), batch(second, append_ms=n)) for n in range(2)]
        for commit in commits:
            await store.commit_segment(commit)
        stretch = await everything(store)
        assert [(home.partition, home.number, home.span.base_offset) for home in stretch.spans] == [
            (first, 0, 0),
            (first, 0, 2),
            (second, 1, 0),
            (second, 1, 1),
        ]
        assert stretch.data == {commit.segment: commit.inline for commit in commits}
        move = move_of(stage, stretch)
        await store.inline.move(move)
        assert await spans_of(store, first) == (Span(0, 3, move.segment, 4, 200, 1_000, -1),), "neighbours become one"
        assert await spans_of(store, second) == (
            Span(0, 0, move.segment, 204, 100, 1_000, 0),
            Span(1, 1, move.segment, 304, 100, 1_000, 1),
        ), "unless their log-append times differ"
        sizes = await store.tails([first, second])
        assert [sizes[partition].bytes for partition in (first, second)] == [200, 200]
        assert await everything(store) == InlineStretch(spans=[], data={})
        assert tuple(await store.wal_size()) == (move.bytes, 400, 0)
        await store.delete_records(first, 4)
        await store.delete_records(second, 2)
        stage.pass_time(1_001)
        assert await store.deletable_segments(1_000, 10) == [move.segment], "it counts its spans"

    stage.run(scenario)


def test_a_repeated_move_changes_nothing_and_an_abandoned_one_is_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _, _ = await written(stage, store, 2)
        move = move_of(stage, await everything(store))
        given_up = move_of(stage, await everything(store))
        assert await store.abandon_segment(given_up.segment) == Abandoned()
        with pytest.raises(SegmentAbandoned, match="given up"):
            await store.inline.move(given_up)
        await asyncio.gather(store.inline.move(move), store.inline.move(move))
        before = await spans_of(store, partition)
        assert {span.segment for span in before} == {move.segment}
        await store.inline.move(move)
        assert await spans_of(store, partition) == before

    stage.run(scenario)


def test_of_two_movers_one_moves_and_the_others_object_is_dead_from_the_start(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _, _ = await written(stage, store, 3)
        moves = [move_of(stage, await everything(store)) for _ in range(2)]
        await asyncio.gather(*map(store.inline.move, moves))
        (span,) = await spans_of(store, partition)
        stage.pass_time(1_001)
        (dead,) = await store.deletable_segments(1_000, 10)
        assert {span.segment, dead} == {move.segment for move in moves}

    stage.run(scenario)


def test_records_that_were_deleted_while_their_bytes_were_moved_stay_deleted(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, lease, _ = await written(stage, store, 3)
        move = move_of(stage, await everything(store))
        await store.delete_records(partition, 15)
        late = stage.inline_commit(lease, batch(partition))
        await store.commit_segment(late)
        await store.inline.move(move)
        spans = await spans_of(store, partition)
        assert [(span.base_offset, span.last_offset, span.at) for span in spans] == [(10, 29, 104), (30, 30, 0)]
        assert spans[1].segment == late.segment, "what came after the mover looked stays inline"
        size = (await store.tails([partition]))[partition]
        assert (size.tail.log_start, size.bytes) == (15, 300)
        assert (await store.inline.at_rest()).segments == 1

    stage.run(scenario)


def test_spans_do_not_grow_without_end_by_moving(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        half = MERGED_BYTES_MAX // 2
        for _ in range(3):
            await store.commit_segment(stage.inline_commit(lease, batch(partition, length=half)))
        await store.inline.move(move_of(stage, await everything(store)))
        assert [span.length for span in await spans_of(store, partition)] == [2 * half, half]

    stage.run(scenario)


def test_the_oldest_are_moved_first_and_no_more_than_asked_for(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        _, _, commits = await written(stage, store, 4)
        segments = [commit.segment for commit in commits]
        assert list((await store.inline.oldest(bytes_max=250, segments_max=10)).data) == segments[:2]
        assert list((await store.inline.oldest(bytes_max=1, segments_max=10)).data) == segments[:1]
        assert list((await store.inline.oldest(bytes_max=EVERYTHING, segments_max=3)).data) == segments[:3]

    stage.run(scenario)


def test_lookups_by_time_find_moved_records(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, lease, _ = await written(stage, store, 3)
        move = move_of(stage, await everything(store))
        await store.inline.move(move)
        await store.commit_segment(stage.inline_commit(lease, batch(partition, time=9)))
        found = await store.span_at_time(partition, 2)
        assert found is not None
        assert (found.base_offset, found.last_offset) == (0, 29)
        latest = await store.span_of_max_timestamp(partition)
        assert latest is not None
        assert latest.base_offset == 30

    stage.run(scenario)
