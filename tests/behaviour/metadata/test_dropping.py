"""Records that go: DeleteRecords, retention, and the segments they leave behind."""

import asyncio

import pytest

from lakestream.metadata.rules.segment_state import ABANDONED_KEPT_MS
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import OffsetOutOfRange, UnknownPartition
from lakestream.model.place import Tail
from lakestream.model.segment import Abandoned, SegmentCommit
from lakestream.model.topic import PartitionId
from tests.behaviour.metadata.stage import Stage, batch, laid_out

GRACE_MS = 1_000


async def written(stage: Stage, store: MetadataStore, times: list[int]) -> tuple[PartitionId, list[SegmentCommit]]:
    """A partition with one span of 10 records, 100 bytes and a segment for each of `times`."""
    (partition,) = (await stage.topic(store)).partitions
    lease = await stage.broker(store)
    commits = [stage.commit(lease, batch(partition, records=10, time=time)) for time in times]
    for commit in commits:
        await store.commit_segment(commit)
    return partition, commits


async def deletable(stage: Stage, store: MetadataStore) -> list[str]:
    stage.pass_time(GRACE_MS + 1)
    return await store.deletable_segments(GRACE_MS, 100)


# --- DeleteRecords -----------------------------------------------------------------------------------


def test_deleting_records_drops_spans_wholly_below(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, commits = await written(stage, store, [1, 2, 3])
        assert await store.delete_records(partition, 15) == 15
        size = (await store.tails([partition]))[partition]
        assert (size.tail, size.bytes) == (Tail(15, 30, 0), 200)
        assert await deletable(stage, store) == [commits[0].segment]

    stage.run(scenario)


def test_the_log_start_never_falls(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [1, 2, 3])
        assert await store.delete_records(partition, 20) == 20
        assert await store.delete_records(partition, 5) == 20
        assert await store.delete_records(partition, -1) == 20

    stage.run(scenario)


def test_everything_can_be_deleted_and_writing_goes_on(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, commits = await written(stage, store, [1, 2])
        assert await store.delete_records(partition, 20) == 20
        size = (await store.tails([partition]))[partition]
        assert (size.tail, size.bytes) == (Tail(20, 20, 0), 0)
        assert set(await deletable(stage, store)) == {commit.segment for commit in commits}
        lease = await stage.broker(store)
        await store.commit_segment(stage.commit(lease, batch(partition)))
        (view,) = await store.views([ViewAsk(partition, 20, 10)])
        assert view is not None
        assert (view.tail, view.spans[0].base_offset) == (Tail(20, 21, 0), 20)

    stage.run(scenario)


def test_nothing_above_the_end_can_be_deleted(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [1])
        with pytest.raises(OffsetOutOfRange, match="10"):
            await store.delete_records(partition, 11)
        with pytest.raises(UnknownPartition):
            await store.delete_records(partition + 1, 0)
        assert (await store.tails([partition]))[partition].tail == Tail(0, 10, 0)

    stage.run(scenario)


# --- retention ---------------------------------------------------------------------------------------


def test_retention_by_time_takes_the_oldest_and_stops_at_the_first_young_one(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, commits = await written(stage, store, [10, 20, 90, 30])
        taken = await store.apply_retention(partition, expired_before_ms=50, bytes_max=None, spans_max=100)
        assert taken == 2
        size = (await store.tails([partition]))[partition]
        assert (size.tail, size.bytes) == (Tail(20, 40, 0), 200)
        assert set(await deletable(stage, store)) == {commits[0].segment, commits[1].segment}

    stage.run(scenario)


def test_a_span_as_old_as_the_bound_stays(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [50])
        assert await store.apply_retention(partition, expired_before_ms=50, bytes_max=None, spans_max=9) == 0
        assert await store.apply_retention(partition, expired_before_ms=51, bytes_max=None, spans_max=9) == 1

    stage.run(scenario)


def test_records_without_a_time_age_from_their_commit(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [-1])
        now = await store.now_ms()
        assert await store.apply_retention(partition, expired_before_ms=now - 60_000, bytes_max=None, spans_max=9) == 0
        assert await store.apply_retention(partition, expired_before_ms=now + 60_000, bytes_max=None, spans_max=9) == 1

    stage.run(scenario)


@pytest.mark.parametrize(("bytes_max", "taken"), [(500, 0), (400, 0), (300, 1), (250, 1), (200, 2), (0, 4)])
def test_retention_by_size_keeps_no_less_than_the_bound(stage: Stage, bytes_max: int, taken: int) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [1, 2, 3, 4])
        assert (
            await store.apply_retention(partition, expired_before_ms=None, bytes_max=bytes_max, spans_max=100) == taken
        )
        assert (await store.tails([partition]))[partition].tail.log_start == 10 * taken

    stage.run(scenario)


def test_retention_takes_a_bounded_number_a_call(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [1, 2, 3])
        taken = [
            await store.apply_retention(partition, expired_before_ms=9, bytes_max=None, spans_max=2) for _ in range(3)
        ]
        assert taken == [2, 1, 0]

    stage.run(scenario)


def test_retention_without_bounds_or_partition_takes_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, _ = await written(stage, store, [1])
        assert await store.apply_retention(partition, expired_before_ms=None, bytes_max=None, spans_max=9) == 0
        assert await store.apply_retention(partition + 1, expired_before_ms=99, bytes_max=0, spans_max=9) == 0

    stage.run(scenario)


def test_retention_beside_commits_loses_no_count(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        commits = [stage.commit(lease, batch(partition, records=10)) for _ in range(20)]
        work = [
            *(store.commit_segment(commit) for commit in commits),
            *(store.apply_retention(partition, expired_before_ms=None, bytes_max=500, spans_max=3) for _ in range(10)),
        ]
        await asyncio.gather(*work)
        size = (await store.tails([partition]))[partition]
        (view,) = await store.views([ViewAsk(partition, 0, 100)])
        assert view is not None
        assert size.bytes == sum(span.length for span in view.spans) >= 500
        assert size.tail == Tail(view.spans[0].base_offset, 200, 0)
        alive = {span.segment for span in view.spans}
        assert set(await deletable(stage, store)) == {commit.segment for commit in commits} - alive

    stage.run(scenario)


# --- segments ----------------------------------------------------------------------------------------


def test_a_dead_segment_waits_out_its_grace(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, commits = await written(stage, store, [1])
        await store.delete_records(partition, 10)
        assert await store.deletable_segments(GRACE_MS, 10) == []
        stage.pass_time(GRACE_MS + 1)
        assert await store.deletable_segments(GRACE_MS, 10) == [commits[0].segment]
        await store.forget_segments([commits[0].segment])
        assert await store.deletable_segments(GRACE_MS, 10) == []
        assert await store.unknown_segments([commits[0].segment]) == [commits[0].segment]

    stage.run(scenario)


def test_a_segment_dies_with_its_last_span(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = (await stage.topic(store, 2)).partitions
        commit = stage.commit(
            await stage.broker(store), *laid_out(batch(first), batch(first, append_ms=3), batch(second))
        )
        await store.commit_segment(commit)
        await store.delete_records(first, 2)
        assert await deletable(stage, store) == []
        await store.delete_records(second, 1)
        assert await deletable(stage, store) == [commit.segment]

    stage.run(scenario)


def test_a_segment_in_which_nothing_was_stored_is_dead_from_the_start(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        commit = stage.commit(await stage.broker(store), batch(partition, producer=(1, 0, 7)))
        await store.commit_segment(commit)
        assert await deletable(stage, store) == [commit.segment]

    stage.run(scenario)


def test_living_segments_are_not_forgotten(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        _, commits = await written(stage, store, [1])
        await store.forget_segments([commits[0].segment])
        assert await store.unknown_segments([commits[0].segment]) == []

    stage.run(scenario)


def test_a_segment_whose_receipts_are_needed_is_kept(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        earlier_partition, later_partition = (await stage.topic(store, 2)).partitions
        lease = await stage.broker(store)
        earlier = stage.commit(lease, batch(earlier_partition))
        later = stage.commit(lease, batch(later_partition), receipts=(earlier.segment,))
        await store.commit_segment(earlier)
        await store.commit_segment(later)
        await store.delete_records(later_partition, 1)
        assert await deletable(stage, store) == []
        await store.delete_records(earlier_partition, 1)
        assert set(await deletable(stage, store)) == {earlier.segment, later.segment}

    stage.run(scenario)


def test_deletable_segments_are_limited_and_oldest_first(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        partition, commits = await written(stage, store, [1, 2, 3])
        for offset in (10, 20, 30):
            await store.delete_records(partition, offset)
            stage.pass_time(10)
        stage.pass_time(GRACE_MS)
        found = await store.deletable_segments(GRACE_MS, 2)
        assert found == [commits[0].segment, commits[1].segment]

    stage.run(scenario)


def test_an_abandoned_segment_outlives_its_object(stage: Stage) -> None:
    """The row stops a zombie long after the object is gone, and is not offered for deletion again."""

    async def scenario(store: MetadataStore) -> None:
        segment = stage.ids.ulid()
        await store.abandon_segment(segment)
        assert await deletable(stage, store) == [segment]
        await store.forget_segments([segment])
        assert await deletable(stage, store) == []
        stage.pass_time(ABANDONED_KEPT_MS // 2)
        await store.forget_segments([])
        assert await store.unknown_segments([segment]) == []
        lease = await stage.broker(store)
        assert await store.commit_segment(stage.commit(lease, segment=segment)) == Abandoned()
        stage.pass_time(ABANDONED_KEPT_MS)
        await store.forget_segments([])
        assert await store.unknown_segments([segment]) == [segment]

    stage.run(scenario)


def test_segments_without_a_fate_are_told_in_order(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        _, commits = await written(stage, store, [1])
        strangers = [stage.ids.ulid() for _ in range(3)]
        asked = [strangers[2], commits[0].segment, strangers[0], strangers[1]]
        assert await store.unknown_segments(asked) == [strangers[2], strangers[0], strangers[1]]
        assert await store.unknown_segments([]) == []

    stage.run(scenario)
