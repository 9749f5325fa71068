"""The joint commit: the table's pointer and the topic's places move together, or not at all."""

import asyncio
from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError, UnknownPartition
from lakestream.model.place import FileSpan, Span, Tail
from lakestream.model.segment import Committed
from lakestream.model.table_errors import CommitConflict, CompactionFenced, JobDropped, LedgerConflict
from tests.behaviour.jobs.work import TTL_MS, Work, set_up
from tests.behaviour.metadata.stage import Stage, batch

GRACE_MS = 1_000


async def deletable(stage: Stage, store: MetadataStore) -> set[str]:
    stage.pass_time(GRACE_MS + 1)
    return set(await store.deletable_segments(GRACE_MS, 100))


def test_a_commit_moves_pointer_places_and_tail_together(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 5, 3)
        location = await work.compact(20, cuts=[10])
        assert await work.location() == location
        assert await work.tail() == Tail(0, 30, 20)
        view = await work.view()
        assert [type(span) for span in view.spans] == [FileSpan, FileSpan, Span]
        first, second, _ = view.spans
        assert isinstance(first, FileSpan)
        assert (first.base_offset, first.last_offset, first.rows, first.length) == (0, 9, 10, 100)
        assert (first.partition, first.max_timestamp_ms, second.max_timestamp_ms) == (0, 1, 5)
        assert first.file.endswith("/0")
        assert (await store.tails([work.partition]))[work.partition].bytes == 300

    stage.run(scenario)


def test_the_segments_of_what_moved_are_released(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3, partitions=2)
        await work.compact(20)
        assert work.segments[2] not in await deletable(stage, store)
        assert set(work.segments[:2]) <= await deletable(stage, store)

    stage.run(scenario)


def test_views_begin_in_the_table_and_go_on_in_the_log(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3, 4)
        await work.compact(20, cuts=[10])
        assert await work.shape() == [("file", 0, 9), ("file", 10, 19), ("wal", 20, 29), ("wal", 30, 39)]
        for offset, bases in ((9, [0, 10]), (10, [10, 20]), (19, [10, 20]), (20, [20, 30]), (39, [30]), (40, [])):
            assert [span.base_offset for span in (await work.view(offset, 2)).spans] == bases, offset

    stage.run(scenario)


def test_a_repeated_commit_changes_nothing_and_says_the_same(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        job = await work.begin()
        commit = work.commit(job, 10)
        first = await store.jobs.commit_job(commit)
        before = (await work.view(), await work.location())
        assert await store.jobs.commit_job(commit) == first
        other = replace(commit, move=replace(commit.move, pointer=replace(work.pointer, metadata_location="file:///x")))
        assert await store.jobs.commit_job(other) == first
        assert (await work.view(), await work.location()) == before

    stage.run(scenario)


def test_commits_of_one_job_at_once_are_one_commit(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        commit = work.commit(await work.begin(), 20)
        answers = await asyncio.gather(*(store.jobs.commit_job(commit) for _ in range(4)))
        assert len(set(answers)) == 1
        assert await work.tail() == Tail(0, 20, 20)

    stage.run(scenario)


@pytest.mark.parametrize(("start", "end"), [(0, 30), (10, 30), (30, 40), (20, 50)], ids=str)
def test_a_range_that_does_not_continue_the_table_is_refused(stage: Stage, start: int, end: int) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3, 4)
        await work.compact(20)
        before = (await work.view(), await work.location())
        job = await work.begin()
        with pytest.raises(LedgerConflict):
            await store.jobs.commit_job(work.commit(job, end, start=start))
        assert (await work.view(), await work.location()) == before
        assert await store.jobs.drop_job(job)

    stage.run(scenario)


def test_files_that_do_not_cover_their_range_are_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3)
        commit = work.commit(await work.begin(), 30, cuts=[10, 20])
        for spans in ((), commit.spans[:2], commit.spans[1:], (commit.spans[0], commit.spans[2]), commit.spans * 2):
            with pytest.raises(LedgerConflict):
                await store.jobs.commit_job(replace(commit, spans=spans))
        inside_a_span = work.commit(commit.job, 30, cuts=[15])
        with pytest.raises(LedgerConflict):
            await store.jobs.commit_job(inside_a_span)
        assert await work.tail() == Tail(0, 30, 0)

    stage.run(scenario)


def test_of_two_partitions_both_move_or_neither(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, partitions=2)
        commit = work.commit(await work.begin(), 20)
        first, second = commit.ranges
        with pytest.raises(LedgerConflict):
            await store.jobs.commit_job(replace(commit, ranges=(first, second._replace(end=30))))
        sizes = await store.tails(work.topic.partitions)
        assert {size.tail for size in sizes.values()} == {Tail(0, 20, 0)}

    stage.run(scenario)


def test_a_pointer_that_someone_else_moved_is_a_conflict(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        job = await work.begin()
        with pytest.raises(CommitConflict):
            await store.jobs.commit_job(work.commit(job, 10, expected="file:///someone-else"))
        assert await work.tail() == Tail(0, 10, 0)
        assert await work.location() == work.pointer.metadata_location
        await store.jobs.commit_job(work.commit(job, 10))  # from a fresh read it goes through
        assert await work.tail() == Tail(0, 10, 10)

    stage.run(scenario)


def test_a_zombie_changes_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        job = await work.begin()
        stage.pass_time(TTL_MS + 1)
        with pytest.raises(CompactionFenced):
            await store.jobs.commit_job(work.commit(job, 10))
        successor = await store.jobs.claim_compaction("b", TTL_MS)
        assert successor is not None
        assert successor.token > work.lease.token
        with pytest.raises(CompactionFenced):
            await store.jobs.commit_job(work.commit(job, 10))
        with pytest.raises(CompactionFenced):
            await work.begin()
        assert await work.tail() == Tail(0, 10, 0)

    stage.run(scenario)


def test_a_zombie_whose_work_was_done_by_its_successor_is_told_that_it_is_one(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        job = await work.begin()
        stage.pass_time(TTL_MS + 1)
        zombie = work.commit(job, 10)
        successor = await store.jobs.claim_compaction("b", TTL_MS)
        assert successor is not None
        work.lease = successor
        await store.jobs.commit_job(work.commit(await work.begin(), 10))
        with pytest.raises(CompactionFenced):
            await store.jobs.commit_job(zombie)
        await store.delete_topic(work.topic.id)
        with pytest.raises(CompactionFenced):
            await store.jobs.commit_job(zombie)

    stage.run(scenario)


def test_a_dropped_job_cannot_be_committed_and_a_committed_one_not_dropped(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        dropped, committed = await work.begin(), await work.begin()
        assert await store.jobs.drop_job(dropped)
        with pytest.raises(JobDropped):
            await store.jobs.commit_job(work.commit(dropped, 10))
        await store.jobs.commit_job(work.commit(committed, 10))
        assert not await store.jobs.drop_job(committed)

    stage.run(scenario)


def test_producing_goes_on_while_a_job_commits(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, *range(20), partitions=3)
        commit = work.commit(await work.begin(), 200, cuts=[100])
        lease = await stage.broker(store)
        segments = [stage.commit(lease, batch(partition)) for partition in work.topic.partitions for _ in range(5)]
        fates = await asyncio.gather(
            *(store.commit_segment(segment) for segment in segments[:7]),
            store.jobs.commit_job(commit),
            *(store.commit_segment(segment) for segment in segments[7:]),
        )
        assert sum(isinstance(fate, Committed) for fate in fates) == len(segments)
        for partition in work.topic.partitions:
            size = (await store.tails([partition]))[partition]
            assert (size.tail, size.bytes) == (Tail(0, 205, 200), 2500)

    stage.run(scenario)


# --- what else may happen to the topic meanwhile -----------------------------------------------------


async def planned(stage: Stage, store: MetadataStore) -> tuple[Work, str]:
    work = await set_up(stage, store, 1, 2, 3)
    return work, await work.begin()


def test_records_deleted_meanwhile_stay_deleted(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work, job = await planned(stage, store)
        await store.delete_records(work.partition, 15)
        await store.jobs.commit_job(work.commit(job, 30, cuts=[10, 20]))
        assert await work.tail() == Tail(15, 30, 30)
        assert await work.shape() == [("file", 10, 19), ("file", 20, 29)]
        assert (await store.tails([work.partition]))[work.partition].bytes == 200
        assert set(work.segments) <= await deletable(stage, store)

    stage.run(scenario)


def test_when_everything_was_deleted_meanwhile_only_the_tail_moves(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work, job = await planned(stage, store)
        await store.delete_records(work.partition, 30)
        await store.jobs.commit_job(work.commit(job, 20))
        assert await work.tail() == Tail(30, 30, 20)
        assert await work.shape() == []
        await work.produce(9)
        assert await work.shape() == [("wal", 30, 39)]
        work.pointer = replace(work.pointer, metadata_location=str(await work.location()))
        await work.compact(40, start=30)  # over what was deleted
        assert await work.tail() == Tail(30, 40, 40)

    stage.run(scenario)


def test_work_may_begin_anywhere_between_the_table_and_the_log_start(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work, job = await planned(stage, store)
        await store.delete_records(work.partition, 10)
        await store.jobs.commit_job(work.commit(job, 30, start=10))
        assert await work.tail() == Tail(10, 30, 30)

    stage.run(scenario)


def test_a_topic_deleted_meanwhile_ends_the_job_and_leaves_its_table(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work, job = await planned(stage, store)
        await store.delete_topic(work.topic.id)
        with pytest.raises(UnknownPartition):
            await store.jobs.commit_job(work.commit(job, 30))
        kept = await store.tables.table(work.pointer.namespace, work.pointer.name)
        assert kept is not None
        assert (kept.metadata_location, kept.topic) == (work.pointer.metadata_location, None)
        assert await store.jobs.drop_job(job)

    stage.run(scenario)


def test_a_dropped_table_is_a_conflict(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work, job = await planned(stage, store)
        await store.tables.drop_table(work.pointer.id)
        with pytest.raises(LakestreamError):
            await store.jobs.commit_job(work.commit(job, 30))
        assert await work.tail() == Tail(0, 30, 0)

    stage.run(scenario)


# --- several jobs at once ----------------------------------------------------------------------------


def test_jobs_are_committed_together(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        one, two = await set_up(stage, store, 1, 2), await set_up(stage, store, 1, 2, 3)
        commits = [one.commit(await one.begin(), 20), two.commit(await two.begin(), 20)]
        answers = await store.jobs.commit_jobs(commits)
        assert answers == [await one.location(), await two.location()]
        assert [(await work.tail()).tabled_until for work in (one, two)] == [20, 20]
        assert await store.jobs.commit_jobs(commits) == answers, "a repeated commit changes nothing"
        assert {*one.segments, *two.segments[:2]} <= await deletable(stage, store)

    stage.run(scenario)


@pytest.mark.parametrize("broken", ["pointer", "range", "partition", "job", "token"])
def test_if_one_job_cannot_be_committed_none_of_its_companions_is(stage: Stage, broken: str) -> None:
    async def scenario(store: MetadataStore) -> None:
        one, two = await set_up(stage, store, 1), await set_up(stage, store, 1)
        locations = [await one.location(), await two.location()]
        good, bad = one.commit(await one.begin(), 10), two.commit(await two.begin(), 10)
        match broken:
            case "pointer":
                bad = two.commit(bad.job, 10, expected="file:///someone-else")
            case "range":
                bad = two.commit(bad.job, 10, start=5)
            case "partition":
                await store.delete_topic(two.topic.id)
            case "job":
                assert await store.jobs.drop_job(bad.job)
            case "token":
                bad = replace(bad, token=bad.token + 1)
        for commits in ([good, bad], [bad, good]):
            with pytest.raises(LakestreamError):
                await store.jobs.commit_jobs(commits)
        assert await one.location() == locations[0]
        assert await one.tail() == Tail(0, 10, 0)
        assert await store.jobs.commit_job(good) == good.move.pointer.metadata_location

    stage.run(scenario)


def test_many_commit_the_same_jobs_at_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        works = [await set_up(stage, store, 1) for _ in range(4)]
        commits = [work.commit(await work.begin(), 10) for work in works]
        orders = [commits, commits[::-1], commits, commits[::-1]]
        answers = await asyncio.gather(*(store.jobs.commit_jobs(order) for order in orders))
        for order, answer in zip(orders, answers, strict=True):
            assert answer == [commit.move.pointer.metadata_location for commit in order]

    stage.run(scenario)
