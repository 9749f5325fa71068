"""Records that have moved into the table: found by time, taken by retention and deletion, like any others."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakestream.metadata.store import MetadataStore
from lakestream.model.place import Tail
from tests.behaviour.jobs.work import RECORDS, Work, set_up
from tests.behaviour.metadata.stage import Stage


async def bases(work: Work) -> list[int]:
    return [base for _, base, _ in await work.shape()]


def test_records_below_a_deletion_go_wherever_they_lie(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3, 4)
        await work.compact(20, cuts=[10])
        assert await store.delete_records(work.partition, 12) == 12
        assert await work.shape() == [("file", 10, 19), ("wal", 20, 29), ("wal", 30, 39)]
        assert await store.delete_records(work.partition, 30) == 30
        assert await work.shape() == [("wal", 30, 39)]
        size = (await store.tails([work.partition]))[work.partition]
        assert (size.tail, size.bytes) == (Tail(30, 40, 20), 100)

    stage.run(scenario)


def test_retention_takes_files_and_leaves_what_is_not_in_the_table_yet(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3, 4)
        await work.compact(30, cuts=[10, 20])

        async def retain(**bounds: int) -> int:
            given = {"expired_before_ms": None, "bytes_max": None, "spans_max": 100} | bounds
            return await store.apply_retention(work.partition, **given)  # type: ignore[arg-type]

        assert await retain(expired_before_ms=2) == 1
        assert await bases(work) == [10, 20, 30]
        assert await retain(bytes_max=200) == 1
        assert await bases(work) == [20, 30]
        assert await retain(expired_before_ms=10, spans_max=1) == 1
        assert await retain(expired_before_ms=10, spans_max=1) == 0
        assert await bases(work) == [30]
        assert (await store.tails([work.partition]))[work.partition].bytes == 100

    stage.run(scenario)


def test_a_span_of_which_the_first_records_were_deleted_has_the_time_of_the_others(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1_000, 8)
        await store.delete_records(work.partition, 1)
        await work.compact(10, start=1, latest=7)
        assert [span.max_timestamp_ms for span in (await work.view()).spans] == [7, 8]
        latest = await store.span_of_max_timestamp(work.partition)
        assert latest is not None
        assert (latest.base_offset, latest.max_timestamp_ms) == (10, 8)
        await work.compact(20, start=10)
        taken = await store.apply_retention(work.partition, expired_before_ms=100, bytes_max=None, spans_max=100)
        assert taken == 2

    stage.run(scenario)


def test_a_file_does_not_make_records_later_than_the_log_had_them(stage: Stage) -> None:
    """A batch that was damaged in storage may claim any time, and keeps nothing from retention."""

    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 5, 6)
        await work.compact(10, latest=1_000)
        assert [span.max_timestamp_ms for span in (await work.view()).spans] == [5, 6]

    stage.run(scenario)


def test_a_deleted_topic_leaves_no_file_spans(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2)
        await work.compact(10)
        await store.delete_topic(work.topic.id)
        assert await store.views([]) == []
        assert await store.span_at_time(work.partition, 0) is None

    stage.run(scenario)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    times=st.lists(st.integers(-1, 12), min_size=1, max_size=8),
    tabled=st.integers(0, 8),
    deleted=st.integers(0, 85),
    asked=st.integers(0, 13),
)
def test_lookups_by_time_do_not_depend_on_where_records_lie(
    stage: Stage, times: list[int], tabled: int, deleted: int, asked: int
) -> None:
    """Whatever was compacted and deleted: the first span whose own greatest time reaches the one asked for."""

    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, *times)
        end = min(tabled, len(times)) * RECORDS
        if end:
            await work.compact(end, cuts=range(RECORDS, end, RECORDS))
        await store.delete_records(work.partition, min(deleted, len(times) * RECORDS))
        left = [(at * RECORDS, time) for at, time in enumerate(times) if (at + 1) * RECORDS > deleted]
        expected = next((base for base, time in left if time >= asked), None)
        found = await store.span_at_time(work.partition, asked)
        assert (found and found.base_offset) == expected
        greatest = max((time for _, time in left), default=-1)
        latest = await store.span_of_max_timestamp(work.partition)
        first = next((base for base, time in left if time == greatest), None) if greatest >= 0 else None
        assert (latest and latest.base_offset) == first
        await store.jobs.leave_compaction(work.lease)

    stage.run(scenario)
