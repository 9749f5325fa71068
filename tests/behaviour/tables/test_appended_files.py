"""Files that engines append to a topic's table: their rows take offsets in the transaction that moves the pointer."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import UnknownTopicId
from lakestream.model.job import AppendedSpan, JobCommit, NewFileSpan, NewJob, TabledRange
from lakestream.model.place import FileSpan, Tail
from lakestream.model.table import AppendedFile, PointerMove, TableKind, TablePointer
from lakestream.model.table_errors import CommitConflict, InvalidTableChange
from lakestream.model.topic import Topic
from tests.behaviour.metadata.stage import Stage, batch, laid_out
from tests.behaviour.tables.pointers import pointer

ENCODING = "file:///encodings/e.json"


def appended(*rows: int) -> tuple[AppendedFile, ...]:
    return tuple(AppendedFile(f"file:///{at}.parquet", count, 10 * count, ENCODING) for at, count in enumerate(rows))


async def made(stage: Stage, store: MetadataStore, partitions: int = 1) -> tuple[Topic, TablePointer]:
    topic = await stage.topic(store, partitions=partitions)
    table = pointer("t", kind=TableKind.TOPIC, topic=topic.id)
    await store.tables.create_namespace(("a",), {})
    await store.tables.move_tables([PointerMove(pointer=table, expected_location=None)])
    return topic, table


async def append(
    store: MetadataStore, table: TablePointer, to: str, files: tuple[AppendedFile, ...], partition: int | None = None
) -> TablePointer:
    moved = replace(table, metadata_location=to)
    move = PointerMove(pointer=moved, expected_location=table.metadata_location, appended=files, partition=partition)
    await store.tables.move_tables([move])
    return moved


async def tail(store: MetadataStore, partition: int) -> Tail:
    (view,) = await store.views([ViewAsk(partition, 0, 100)])
    assert view is not None
    return view.tail


async def offsets(
    store: MetadataStore, partition: int, start: int = 0, spans_max: int = 100
) -> list[tuple[str, int, int]]:
    (view,) = await store.views([ViewAsk(partition, start, spans_max)])
    assert view is not None
    return [
        ("file" if isinstance(span, FileSpan) else "wal", span.base_offset, span.last_offset) for span in view.spans
    ]


def test_each_file_goes_whole_to_the_shortest_partition(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, table = await made(stage, store, partitions=2)
        await append(store, table, "v1", appended(5, 3, 1, 0))
        first, second = topic.partitions
        assert await offsets(store, first) == [("file", 0, 4)]
        assert await offsets(store, second) == [("file", 0, 2), ("file", 3, 3)]
        assert await tail(store, first) == Tail(0, 5, 5)
        assert await tail(store, second) == Tail(0, 4, 4)
        assert await store.jobs.appended_spans(topic.id) == [
            AppendedSpan(0, 0, 4, "file:///0.parquet"),
            AppendedSpan(1, 0, 2, "file:///1.parquet"),
            AppendedSpan(1, 3, 3, "file:///2.parquet"),
        ]
        assert await store.jobs.living_files(topic.id) == {f"file:///{at}.parquet" for at in range(3)}
        sizes = await store.tails(topic.partitions)
        assert [sizes[partition].bytes for partition in topic.partitions] == [50, 40]

    stage.run(scenario)


def test_files_go_to_the_partition_that_is_named(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, table = await made(stage, store, partitions=2)
        table = await append(store, table, "v1", appended(5, 3), partition=1)
        assert await offsets(store, topic.partitions[1]) == [("file", 0, 4), ("file", 5, 7)]
        with pytest.raises(InvalidTableChange, match="no partition 2"):
            await append(store, table, "v2", appended(1), partition=2)
        assert (await store.tables.table_of_topic(topic.id)) == table

    stage.run(scenario)


def test_an_append_that_loses_the_pointer_gives_no_offsets(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, table = await made(stage, store)
        await append(store, table, "v1", appended(2))
        with pytest.raises(CommitConflict):
            await append(store, table, "v2", appended(9))
        assert await tail(store, topic.partitions[0]) == Tail(0, 2, 2)
        await store.delete_topic(topic.id)
        with pytest.raises(UnknownTopicId):
            await append(store, replace(table, metadata_location="v1"), "v3", appended(9))

    stage.run(scenario)


def test_appended_files_lie_among_spans_of_the_wal_until_a_job_passes_over_them(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, table = await made(stage, store)
        (partition,) = topic.partitions
        lease_of_broker = await stage.broker(store)
        await store.commit_segment(stage.commit(lease_of_broker, *laid_out(batch(partition, records=4))))
        table = await append(store, table, "v1", appended(3))
        await store.commit_segment(stage.commit(lease_of_broker, *laid_out(batch(partition, records=2))))
        table = await append(store, table, "v2", appended(1, 1))
        whole = [("wal", 0, 3), ("file", 4, 6), ("wal", 7, 8), ("file", 9, 9), ("file", 10, 10)]
        assert await offsets(store, partition) == whole
        assert await offsets(store, partition, 5) == whole[1:]
        assert await offsets(store, partition, 0, 2) == whole[:2]
        assert await offsets(store, partition, 8, 2) == whole[2:4]
        assert await tail(store, partition) == Tail(0, 11, 0)
        assert await store.apply_retention(partition, expired_before_ms=2**60, bytes_max=None, spans_max=9) == 0

        lease = await store.jobs.claim_compaction("p", 60_000)
        assert lease is not None
        for number, (start, end, until) in enumerate([(0, 4, 7), (7, 9, 11)]):
            job = f"job-{number}"
            await store.jobs.begin_jobs(lease.token, [NewJob(job, table.id)])
            moved = replace(table, metadata_location=f"w{number}")
            await store.jobs.commit_job(
                JobCommit(
                    job=job,
                    token=lease.token,
                    move=PointerMove(pointer=moved, expected_location=table.metadata_location),
                    ranges=(TabledRange(partition, start, end),),
                    spans=(NewFileSpan(partition, start, end - 1, f"own-{number}", None, end - start, 5),),
                )
            )
            table = moved
            assert await tail(store, partition) == Tail(0, 11, until)
        assert await offsets(store, partition) == [("file", *place[1:]) for place in whole]
        assert await store.apply_retention(partition, expired_before_ms=2**60, bytes_max=None, spans_max=9) == 5

    stage.run(scenario)


def test_a_lookup_by_time_finds_appended_rows_and_the_records_before_them(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, table = await made(stage, store)
        (partition,) = topic.partitions
        lease_of_broker = await stage.broker(store)
        await store.commit_segment(stage.commit(lease_of_broker, *laid_out(batch(partition, records=4, time=1_000))))
        table = await append(store, table, "v1", appended(3))
        early = await store.span_at_time(partition, 500)
        late = await store.span_at_time(partition, 2_000)
        latest = await store.span_of_max_timestamp(partition)
        assert early is not None and early.base_offset == 0
        assert isinstance(late, FileSpan) and (late.base_offset, late.encoding) == (4, ENCODING)
        assert latest == late

    stage.run(scenario)
