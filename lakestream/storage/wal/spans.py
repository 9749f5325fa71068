"""The spans of a committed segment, by the same rule as in the metadata store.

Batches of a partition that were stored side by side, with consecutive offsets and one append time, are one span; a
batch that was not stored splits it.
"""

from collections.abc import Sequence

from lakestream.model.place import Span
from lakestream.model.segment import BatchResult, BatchStatus
from lakestream.model.topic import PartitionId
from lakestream.storage.wal.buffer import Sealed


def stored_spans(sealed: Sealed, results: Sequence[BatchResult]) -> dict[PartitionId, list[Span]]:
    """By partition, in offset order. Partitions none of whose batches were stored are absent."""
    spans: dict[PartitionId, list[Span]] = {}
    for batch, result in zip(sealed.batches, results, strict=True):
        if result.status is not BatchStatus.STORED:
            continue
        run = spans.setdefault(batch.partition, [])
        span = Span(
            result.base_offset,
            result.base_offset + batch.records - 1,
            sealed.segment,
            batch.at,
            batch.length,
            batch.max_timestamp_ms,
            batch.append_ms,
        )
        if run and _continues(run[-1], span):
            run[-1] = run[-1]._replace(
                last_offset=span.last_offset,
                length=run[-1].length + span.length,
                max_timestamp_ms=max(run[-1].max_timestamp_ms, span.max_timestamp_ms),
            )
        else:
            run.append(span)
    return spans


def unstable_offsets(sealed: Sealed, results: Sequence[BatchResult]) -> dict[PartitionId, int]:
    """By partition, the first offset that a transaction wrote: it may be the first of an open one."""
    first: dict[PartitionId, int] = {}
    for batch, result in zip(sealed.batches, results, strict=True):
        if batch.transaction and result.status is BatchStatus.STORED:
            first.setdefault(batch.partition, result.base_offset)
    return first


def _continues(before: Span, after: Span) -> bool:
    return (
        before.at + before.length == after.at
        and before.last_offset + 1 == after.base_offset
        and before.append_ms == after.append_ms
    )
