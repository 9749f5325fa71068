"""Where batches come to lie, for any commit whatsoever."""

from hypothesis import given
from hypothesis import strategies as st

from lakestream.metadata.rules.placing import PartitionEnd, place_batches
from lakestream.model.segment import NO_PRODUCER, BatchStatus, SegmentBatch

a_batch = st.builds(
    lambda partition, records, gap, time, append_ms, sequence: (partition, records, gap, time, append_ms, sequence),
    st.integers(1, 3),
    st.integers(1, 4),
    st.sampled_from([0, 0, 0, 9]),
    st.integers(-1, 9),
    st.sampled_from([-1, -1, 5]),
    st.sampled_from([None, None, 0, 1, 2]),
)


@given(facts=st.lists(a_batch, max_size=25), start=st.integers(0, 1_000))
def test_stored_batches_are_dense_and_lie_where_their_span_says(facts: list, start: int) -> None:  # type: ignore[type-arg]
    batches, at = [], 4
    for partition, records, gap, time, append_ms, sequence in facts:
        producer = (NO_PRODUCER, -1, -1) if sequence is None else (7, 0, sequence)
        batches.append(SegmentBatch(partition, at + gap, 10, records, time, append_ms, *producer))
        at += gap + 10
    found = {1: PartitionEnd(0, start, 4), 2: PartitionEnd(0, start, -1)}
    placed = place_batches("S", batches, found, {}, 77)

    for partition in (1, 2, 3):
        taken = [
            (batch, result)
            for batch, result in zip(batches, placed.results, strict=True)
            if batch.partition == partition and result.status is BatchStatus.STORED
        ]
        if partition not in found:
            assert not taken
            continue
        offset = start
        spans = [span for span in placed.spans if span.partition_id == partition]
        for batch, result in taken:
            assert result.base_offset == offset
            (span,) = [span for span in spans if span.base_offset <= offset <= span.last_offset]
            before = sum(
                other.length for other, stored in taken if span.base_offset <= stored.base_offset < result.base_offset
            )
            assert span.at + before == batch.at
            assert span.append_ms == batch.append_ms
            assert span.max_timestamp_ms >= batch.max_timestamp_ms
            offset += batch.records
        assert sum(span.last_offset - span.base_offset + 1 for span in spans) == offset - start
        running = found[partition].running_max_timestamp_ms
        for span in spans:
            running = max(running, span.max_timestamp_ms)
            assert span.running_max_timestamp_ms == running
        if taken:
            assert placed.growth[partition] == (offset, 10 * len(taken), running)
        else:
            assert partition not in placed.growth
