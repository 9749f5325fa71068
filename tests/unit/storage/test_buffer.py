"""The open segment: what is taken, in which order, and how it lies in the object."""

import asyncio

from lakestream.model.segment import BatchResult, BatchStatus
from lakestream.storage.wal.batch import Pending, WalBatch
from lakestream.storage.wal.buffer import Sealed, SegmentBuffer, seal
from lakestream.storage.wal.segment import decode_footer
from lakestream.storage.wal.spans import stored_spans
from tests.unit.storage.batches import wal_batch


def pending(batch: WalBatch, at: float = 0.0) -> Pending:
    return Pending(batch=batch, answer=asyncio.new_event_loop().create_future(), buffered_at=at)


def sealed(*batches: WalBatch) -> Sealed:
    buffer = SegmentBuffer()
    for batch in batches:
        buffer.add(pending(batch))
    return seal(buffer.take(0.0), [], segment="S", cluster_id="c", broker_id=1, created_ms=777)


def result(status: BatchStatus, base: int = 0) -> BatchResult:
    return BatchResult(status, base, -1, 0)


def test_batches_lie_grouped_by_partition_in_arrival_order() -> None:
    image = sealed(wal_batch(2, value=b"a"), wal_batch(1, value=b"b"), wal_batch(2, value=b"c"))
    assert [batch.partition for batch in image.batches] == [1, 2, 2]
    whole = b"".join(image.parts)
    assert len(whole) == image.bytes
    assert [whole[b.at : b.at + b.length][-2:-1] for b in image.batches] == [b"b", b"a", b"c"]
    assert [(e.partition, e.records) for e in decode_footer(whole).entries] == [(0, 1), (1, 2)]


def test_a_carried_batch_goes_first_and_in_sequence_order() -> None:
    buffer = SegmentBuffer()
    for sequence in (6, 5):
        carried = pending(wal_batch(1, producer_id=9, sequence=sequence))
        carried.retry_at = 1.0
        buffer.carry(carried)
    buffer.add(pending(wal_batch(1, producer_id=9, sequence=7)))
    assert buffer.next_retry() == 1.0
    assert [item.batch.base_sequence for item in buffer.take(0.5)] == [7]
    assert [item.batch.base_sequence for item in buffer.take(1.0)] == [5, 6]


def test_carried_batches_do_not_fill_a_segment() -> None:
    buffer = SegmentBuffer()
    buffer.carry(pending(wal_batch()))
    assert buffer.bytes == 0
    assert buffer.oldest() is None


def test_log_append_time_is_the_moment_of_the_flush() -> None:
    (batch,) = sealed(wal_batch(log_append_time=True)).batches
    assert (batch.append_ms, batch.max_timestamp_ms) == (777, 777)


def test_stored_neighbours_become_one_span_and_a_refused_one_splits_it() -> None:
    image = sealed(*(wal_batch(1, 2) for _ in range(4)), wal_batch(2))
    stored, refused = BatchStatus.STORED, BatchStatus.OUT_OF_ORDER
    spans = stored_spans(
        image, [result(stored, 10), result(stored, 12), result(refused), result(stored, 14), result(refused)]
    )
    assert list(spans) == [1]
    assert [(span.base_offset, span.last_offset) for span in spans[1]] == [(10, 13), (14, 15)]
    assert spans[1][0].length == 2 * len(image.parts[1])
