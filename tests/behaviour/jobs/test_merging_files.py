"""Merging files: the pointer moves and spans of old files become spans of a new one, together, or not at all."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import UnknownPartition
from lakestream.model.job import JobCommit, NewFileSpan
from lakestream.model.place import FileSpan, Tail
from lakestream.model.table import PointerMove
from lakestream.model.table_errors import CommitConflict, CompactionFenced, JobDropped, LedgerConflict
from lakestream.model.topic import PartitionId
from tests.behaviour.jobs.work import TTL_MS, Work, set_up
from tests.behaviour.metadata.stage import Stage

NEW = "file:///merged"


async def compacted(stage: Stage, store: MetadataStore, *, partitions: int = 1) -> Work:
    """Three files with ten records of each partition."""
    work = await set_up(stage, store, 1, 5, 3, partitions=partitions)
    for start in (0, 10, 20):
        await work.compact(start + 10, start=start)
    return work


async def files_of(work: Work) -> list[str]:
    return [span.file for span in (await work.view()).spans if isinstance(span, FileSpan)]


async def merge(
    work: Work,
    *,
    base: int = 0,
    last: int = 29,
    files: Sequence[str] | None = None,
    partitions: Sequence[PartitionId] | None = None,
) -> JobCommit:
    """All spans of every partition from `base` to `last` become one."""
    job = await work.begin()
    moved = replace(work.pointer, metadata_location=f"file:///{job}")
    old = await files_of(work) if files is None else files
    return JobCommit(
        job=job,
        token=work.lease.token,
        move=PointerMove(pointer=moved, expected_location=work.pointer.metadata_location),
        merged=tuple(
            NewFileSpan(partition, base, last, NEW, None, last - base + 1, 5)
            for partition in (work.topic.partitions if partitions is None else partitions)
        ),
        replaced_files=frozenset(old),
    )


def test_spans_of_the_old_files_become_one_of_the_new_file(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store, partitions=2)
        before = await work.tail()
        sizes = await store.tails(work.topic.partitions)
        commit = await merge(work)
        location = await store.jobs.commit_job(commit)
        assert await work.location() == location == commit.move.pointer.metadata_location
        (span,) = (await work.view()).spans
        assert isinstance(span, FileSpan)
        assert (span.base_offset, span.last_offset, span.file, span.rows, span.length) == (0, 29, NEW, 30, 300)
        assert span.max_timestamp_ms == 5
        assert await work.tail() == before == Tail(0, 30, 30)
        assert await store.tails(work.topic.partitions) == sizes
        assert await store.jobs.living_files(work.topic.id) == {NEW}
        assert await store.jobs.commit_job(commit) == location

    stage.run(scenario)


def test_what_came_behind_the_merged_files_stays(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store)
        commit = await merge(work, last=19, files=(await files_of(work))[:2])
        await work.produce(9)
        await store.jobs.commit_job(commit)
        assert await work.shape() == [("file", 0, 19), ("file", 20, 29), ("wal", 30, 39)]
        for offset, base in ((0, 0), (19, 0), (20, 20)):
            assert (await work.view(offset, 1)).spans[0].base_offset == base

    stage.run(scenario)


def test_records_that_the_log_let_go_of_meanwhile_stay_gone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store, partitions=2)
        commit = await merge(work)
        await store.delete_records(work.partition, 15)
        await store.delete_records(work.topic.partitions[1], 30)
        await store.jobs.commit_job(commit)
        assert await work.shape() == [("file", 10, 29)]
        assert (await work.tail()).log_start == 15
        assert [span.partition for span in await store.jobs.spans_in_files(work.topic.id, [NEW])] == [work.partition]
        assert (await store.tails(work.topic.partitions))[work.topic.partitions[1]].bytes == 0

    stage.run(scenario)


@pytest.mark.parametrize(
    ("base", "last", "wrong"), [(0, 25, "inside a span"), (5, 29, "inside a span"), (0, 39, "beyond the table")]
)
def test_a_merge_that_does_not_fit_the_spans_is_refused(stage: Stage, base: int, last: int, wrong: str) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store)
        before = (await work.view(), await work.location())
        with pytest.raises(LedgerConflict, match="plan anew"):
            await store.jobs.commit_job(await merge(work, base=base, last=last))
        assert (await work.view(), await work.location()) == before

    stage.run(scenario)


def test_a_merge_of_other_files_than_the_index_names_is_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store)
        first = await merge(work, last=19, files=(await files_of(work))[:2])
        second = await merge(work)
        await store.jobs.commit_job(first)
        work.pointer = first.move.pointer
        expected = replace(second, move=replace(second.move, expected_location=work.pointer.metadata_location))
        with pytest.raises(LedgerConflict, match="plan anew"):
            await store.jobs.commit_job(expected)
        assert await files_of(work) == [NEW, (await files_of(work))[1]]

    stage.run(scenario)


def test_nothing_is_merged_when_the_pointer_has_moved(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store)
        commit = await merge(work)
        await work.produce(9)
        await work.compact(40, start=30)
        before = await work.shape()
        with pytest.raises(CommitConflict):
            await store.jobs.commit_job(commit)
        assert await work.shape() == before

    stage.run(scenario)


def test_a_merge_needs_the_lease_its_job_and_its_topic(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await compacted(stage, store)
        before = await work.shape()
        dropped = await merge(work)
        assert await store.jobs.drop_job(dropped.job)
        with pytest.raises(JobDropped):
            await store.jobs.commit_job(dropped)
        with pytest.raises(UnknownPartition):
            await store.jobs.commit_job(await merge(work, partitions=[999_999]))
        late = await merge(work)
        stage.pass_time(TTL_MS + 1)
        assert await store.jobs.claim_compaction("b", TTL_MS) is not None
        with pytest.raises(CompactionFenced):
            await store.jobs.commit_job(late)
        assert await work.shape() == before

    stage.run(scenario)


def test_files_are_listed_by_the_age_of_their_records(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, partitions=2)
        await work.compact(10)
        stage.pass_time(1_000)
        await work.produce(2)
        await work.compact(20, start=10)
        uses = await store.jobs.file_uses(work.topic.id)
        assert [use.file for use in uses] == await files_of(work)
        assert [(use.log_file, use.bytes) for use in uses] == [(None, 200), (None, 200)]
        assert uses[1].first_ms - uses[0].last_ms >= 1_000
        spans = await store.jobs.spans_in_files(work.topic.id, [uses[1].file])
        assert [(span.number, span.base_offset, span.last_offset, span.rows) for span in spans] == [
            (0, 10, 19, 10),
            (1, 10, 19, 10),
        ]
        other = await set_up(stage, store, 1)
        assert await store.jobs.file_uses(other.topic.id) == []

    stage.run(scenario)
