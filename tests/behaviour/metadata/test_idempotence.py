"""Idempotent producers: every store judges as the rule in sequencing.py does."""

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakestream.metadata.rules.placing import PartitionEnd, ProducerKey, place_batches
from lakestream.metadata.rules.sequencing import ProducerState
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.place import Span
from lakestream.model.segment import BatchStatus, SegmentBatch
from tests.behaviour.metadata.stage import Stage, batch, laid_out, results_of

LAST_SEQUENCE = 2**31 - 1


def statuses(stage: Stage, *produced: tuple[int, int, int, int]) -> list[tuple[BatchStatus, int]]:
    """What becomes of batches (producer, epoch, sequence, records), each in a segment of its own."""
    seen: list[tuple[BatchStatus, int]] = []

    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        for producer, epoch, sequence, records in produced:
            one = batch(partition, records=records, producer=(producer, epoch, sequence))
            (result,) = results_of(await store.commit_segment(stage.commit(lease, one)))
            seen.append((result.status, result.base_offset))

    stage.run(scenario)
    return seen


def test_a_repeated_batch_gets_its_first_offset(stage: Stage) -> None:
    assert statuses(stage, (1, 0, 0, 3), (1, 0, 3, 2), (1, 0, 0, 3), (1, 0, 5, 1)) == [
        (BatchStatus.STORED, 0),
        (BatchStatus.STORED, 3),
        (BatchStatus.DUPLICATE, 0),
        (BatchStatus.STORED, 5),
    ]


def test_a_gap_is_out_of_order(stage: Stage) -> None:
    assert statuses(stage, (1, 0, 0, 1), (1, 0, 2, 1), (1, 0, 1, 1), (1, 0, 2, 1)) == [
        (BatchStatus.STORED, 0),
        (BatchStatus.OUT_OF_ORDER, -1),
        (BatchStatus.STORED, 1),
        (BatchStatus.STORED, 2),
    ]


def test_a_stranger_begins_with_zero(stage: Stage) -> None:
    assert statuses(stage, (1, 0, 4, 1), (1, 0, 0, 1)) == [
        (BatchStatus.UNKNOWN_PRODUCER, -1),
        (BatchStatus.STORED, 0),
    ]


def test_an_older_epoch_is_stale_and_a_newer_one_begins_with_zero(stage: Stage) -> None:
    assert statuses(stage, (1, 3, 0, 1), (1, 2, 1, 1), (1, 4, 1, 1), (1, 4, 0, 1), (1, 3, 1, 1)) == [
        (BatchStatus.STORED, 0),
        (BatchStatus.STALE_EPOCH, -1),
        (BatchStatus.OUT_OF_ORDER, -1),
        (BatchStatus.STORED, 1),
        (BatchStatus.STALE_EPOCH, -1),
    ]


def test_only_the_last_five_batches_are_remembered(stage: Stage) -> None:
    produced = [(1, 0, sequence, 1) for sequence in range(7)]
    assert statuses(stage, *produced, (1, 0, 1, 1), (1, 0, 2, 1), (1, 0, 6, 1))[7:] == [
        (BatchStatus.DUPLICATE_TOO_OLD, -1),
        (BatchStatus.DUPLICATE, 2),
        (BatchStatus.DUPLICATE, 6),
    ]


def test_sequences_start_again_after_the_last(stage: Stage) -> None:
    produced = [(1, 0, 0, LAST_SEQUENCE), (1, 0, LAST_SEQUENCE, 3), (1, 0, 2, 1), (1, 0, LAST_SEQUENCE, 3)]
    assert statuses(stage, *produced) == [
        (BatchStatus.STORED, 0),
        (BatchStatus.STORED, LAST_SEQUENCE),
        (BatchStatus.STORED, LAST_SEQUENCE + 3),
        (BatchStatus.DUPLICATE, LAST_SEQUENCE),
    ]


def test_zero_follows_the_last_sequence(stage: Stage) -> None:
    assert statuses(stage, (1, 0, 0, LAST_SEQUENCE), (1, 0, LAST_SEQUENCE, 1), (1, 0, 0, 4), (1, 0, 4, 1)) == [
        (BatchStatus.STORED, 0),
        (BatchStatus.STORED, LAST_SEQUENCE),
        (BatchStatus.STORED, LAST_SEQUENCE + 1),
        (BatchStatus.STORED, LAST_SEQUENCE + 5),
    ]


def test_a_duplicate_is_answered_with_its_first_append_time(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store)
        await store.commit_segment(stage.commit(lease, batch(partition, append_ms=70, producer=(1, 0, 0))))
        repeat = stage.commit(lease, batch(partition, append_ms=99, producer=(1, 0, 0)))
        assert results_of(await store.commit_segment(repeat)) == ((BatchStatus.DUPLICATE, 0, 70, 0),)

    stage.run(scenario)


def test_a_retry_through_another_broker_is_stored_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        other = await stage.open() if stage.shared else store
        leases = [await stage.broker(store, 1), await stage.broker(store, 2)]
        for sequence in range(10):
            commits = [stage.commit(lease, batch(partition, producer=(1, 0, sequence))) for lease in leases]
            fates = await asyncio.gather(store.commit_segment(commits[0]), other.commit_segment(commits[1]))
            results = sorted(results_of(fate)[0][:2] for fate in fates)
            assert results == [(BatchStatus.STORED, sequence), (BatchStatus.DUPLICATE, sequence)]

    stage.run(scenario)


def test_idle_producers_are_forgotten(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        (partition,) = (await stage.topic(store)).partitions
        lease = await stage.broker(store, ttl_ms=1_000_000)
        for producer in range(4):
            await store.commit_segment(stage.commit(lease, batch(partition, producer=(producer, 0, 0))))
        stage.pass_time(10_000)
        await store.commit_segment(stage.commit(lease, batch(partition, producer=(0, 0, 1))))
        assert await store.forget_producers(5_000, 2) == 2
        assert await store.forget_producers(5_000, 100) == 1
        assert await store.forget_producers(5_000, 100) == 0
        batches = laid_out(batch(partition, producer=(0, 0, 2)), batch(partition, producer=(1, 0, 1)))
        results = results_of(await store.commit_segment(stage.commit(lease, *batches)))
        assert [result.status for result in results] == [BatchStatus.STORED, BatchStatus.UNKNOWN_PRODUCER]

    stage.run(scenario)


# --- against the rule --------------------------------------------------------------------------------

PARTITIONS = 3

a_batch = st.builds(
    lambda partition, records, length, time, append_ms, producer, epoch, sequence: SegmentBatch(
        partition, 0, length, records, time, append_ms, producer, epoch, sequence if producer >= 0 else -1
    ),
    st.integers(1, PARTITIONS + 1),  # the last one does not exist
    st.integers(1, 2),
    st.integers(61, 63),
    st.integers(-1, 5),
    st.sampled_from([-1, -1, -1, 7]),
    st.sampled_from([-1, 10, 10, 10, 11]),
    st.sampled_from([0, 0, 0, 0, 1]),
    st.one_of(st.integers(0, 9), st.sampled_from([LAST_SEQUENCE, LAST_SEQUENCE - 1])),
)
a_producer_at_work = st.builds(
    lambda partition, epoch, steps: [
        batch(partition, producer=(10, epoch, sequence), records=1) for sequence in _wandering(steps)
    ],
    st.integers(1, PARTITIONS),
    st.integers(0, 1),
    st.lists(st.sampled_from([1, 1, 1, 1, 0, 0, -1, -4, -6, 2]), max_size=14),
)


def _wandering(steps: list[int]) -> list[int]:
    """Sequences that mostly go on by one, with repeats, jumps back and gaps."""
    sequences, highest = [0], 0
    for step in steps:
        sequence = max(highest + step, 0)
        highest = max(highest, sequence) if step <= 1 else highest
        sequences.append(sequence)
    return sequences


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(segments=st.lists(st.one_of(st.lists(a_batch, max_size=12), a_producer_at_work), min_size=1, max_size=5))
def test_every_store_places_batches_as_the_rule_says(stage: Stage, segments: list[list[SegmentBatch]]) -> None:
    async def scenario(store: MetadataStore) -> None:
        ids = (await stage.topic(store, PARTITIONS)).partitions
        missing = ids[-1] + 1_000_000
        lease = await stage.broker(store)
        ends = {partition: PartitionEnd(0, 0, -1) for partition in ids}
        producers: dict[ProducerKey, ProducerState] = {}
        spans: dict[int, list[Span]] = {partition: [] for partition in ids}
        for segment in segments:
            batches = laid_out(*(one._replace(partition=[*ids, missing][one.partition - 1]) for one in segment))
            commit = stage.commit(lease, *batches)
            expected = place_batches(commit.segment, batches, ends, producers, 0)
            assert results_of(await store.commit_segment(commit)) == tuple(expected.results)
            producers |= expected.producers
            for partition, growth in expected.growth.items():
                ends[partition] = PartitionEnd(0, growth.next_offset, growth.running_max_timestamp_ms)
            for placed in expected.spans:
                spans[placed.partition_id].append(Span._make((*placed[1:7], placed.append_ms)))
        views = await store.views([ViewAsk(partition, 0, 1_000) for partition in ids])
        assert [view and (view.tail.next_offset, list(view.spans)) for view in views] == [
            (ends[partition].next_offset, spans[partition]) for partition in ids
        ]

    stage.run(scenario)
