"""Reads: views of a partition, and lookups by time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.place import PartitionView, Span, Tail
from tests.behaviour.metadata.stage import Stage, batch, laid_out

NO_TIME = -1


def test_a_view_begins_with_the_span_that_holds_the_offset(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for _ in range(4):
            await store.commit_segment(stage.commit(lease, batch(partition, records=10)))
        asks = [ViewAsk(partition, offset, 2) for offset in (0, 9, 10, 25, 39, 40, 99)]
        views = await store.views(asks)
        bases = [[span.base_offset for span in view.spans] for view in views if view is not None]
        assert bases == [[0, 10], [0, 10], [10, 20], [20, 30], [30], [], []]
        assert {view.tail for view in views if view is not None} == {Tail(0, 40, 0)}

    stage.run(scenario)


def test_a_view_of_what_does_not_exist_is_none(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        views = await store.views([ViewAsk(partition + 1, 0, 5), ViewAsk(partition, 0, 5), ViewAsk(-1, 0, 5)])
        assert views[0] is None
        assert views[1] == PartitionView(Tail(0, 0, 0), ())
        assert views[2] is None
        assert await store.views([]) == []

    stage.run(scenario)


def test_after_deletion_a_view_begins_with_what_is_left(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for _ in range(3):
            await store.commit_segment(stage.commit(lease, batch(partition, records=10)))
        await store.delete_records(partition, 15)
        (view,) = await store.views([ViewAsk(partition, 0, 5)])
        assert view is not None
        assert view.tail == Tail(15, 30, 0)
        assert [span.base_offset for span in view.spans] == [10, 20]

    stage.run(scenario)


def test_tails_leave_out_what_does_not_exist(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        assert set(await store.tails([partition, partition + 1, -5])) == {partition}
        assert await store.tails([]) == {}

    stage.run(scenario)


def test_lookups_by_time_find_nothing_in_an_empty_partition(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        assert await store.span_at_time(partition, 0) is None
        assert await store.span_of_max_timestamp(partition) is None
        assert await store.span_of_max_timestamp(partition + 1) is None

    stage.run(scenario)


def test_records_without_a_time_have_no_greatest(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        await store.commit_segment(stage.commit(await stage.broker(store), batch(partition, time=NO_TIME)))
        assert await store.span_of_max_timestamp(partition) is None
        assert await store.span_at_time(partition, 0) is None

    stage.run(scenario)


@pytest.mark.parametrize("times", [[5, 3, 9, 9, 1], [9, 1, 2, 3], [4, 4, 4]])
def test_the_first_span_with_the_greatest_time_is_found_also_when_it_moves(stage: Stage, times: list[int]) -> None:
    """Dropping the span that raised the running maximum leaves a maximum that no span has."""

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for time in times:
            await store.commit_segment(stage.commit(lease, batch(partition, time=time)))
        for start in range(len(times)):
            await store.delete_records(partition, start)
            span = await store.span_of_max_timestamp(partition)
            assert span is not None
            left = times[start:]
            assert span.base_offset == start + left.index(max(left))

    stage.run(scenario)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    segments=st.lists(st.lists(st.integers(-1, 12), min_size=1, max_size=3), min_size=1, max_size=8),
    log_start=st.integers(0, 10),
)
def test_lookups_by_time_agree_with_looking_at_every_span(
    stage: Stage, segments: list[list[int]], log_start: int
) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for times in segments:
            batches = laid_out(*(batch(partition, time=time, append_ms=i) for i, time in enumerate(times)))
            await store.commit_segment(stage.commit(lease, *batches))
        await store.delete_records(partition, min(log_start, sum(map(len, segments))))
        (view,) = await store.views([ViewAsk(partition, 0, 1_000)])
        assert view is not None
        for time in range(14):
            assert await store.span_at_time(partition, time) == first_at(view.spans, time)
        assert await store.span_of_max_timestamp(partition) == first_of_max(view.spans)

    stage.run(scenario)


def first_at(spans: tuple[Span, ...], time: int) -> Span | None:
    return next((span for span in spans if span.max_timestamp_ms >= time), None)


def first_of_max(spans: tuple[Span, ...]) -> Span | None:
    greatest = max((span.max_timestamp_ms for span in spans), default=NO_TIME)
    return None if greatest == NO_TIME else first_at(spans, greatest)
