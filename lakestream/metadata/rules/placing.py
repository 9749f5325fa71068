"""Place a segment's batches in the log: the whole arithmetic of a commit, without a database.

    tails and producers, as read  +  batches, in order  ->  results, spans, grown tails, producers to write

SQLite runs this between its reads and its writes. On PostgreSQL a function does the same inside the server, and a
property test compares the two.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.metadata.rules.sequencing import (
    NO_OFFSET,
    NO_TIME,
    ProducerState,
    judge,
    remember,
)
from lakestream.model.place import SegmentId
from lakestream.model.segment import NO_PRODUCER, BatchResult, BatchStatus, SegmentBatch
from lakestream.model.topic import PartitionId

ProducerKey = tuple[PartitionId, int]


class PartitionEnd(NamedTuple):
    """A partition as a commit finds it."""

    log_start: int
    next_offset: int
    running_max_timestamp_ms: int


class PlacedSpan(NamedTuple):
    """A row of the span table, its columns in their order there."""

    partition_id: PartitionId
    base_offset: int
    last_offset: int
    segment_id: SegmentId
    at: int
    length: int
    max_timestamp_ms: int
    running_max_timestamp_ms: int
    append_ms: int
    committed_ms: int


class Growth(NamedTuple):
    """The change of a partition in which a commit stored something."""

    next_offset: int
    bytes_added: int
    running_max_timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    results: Sequence[BatchResult]
    spans: Sequence[PlacedSpan]
    growth: Mapping[PartitionId, Growth]
    producers: Mapping[ProducerKey, ProducerState]


def place_batches(
    segment: SegmentId,
    batches: Sequence[SegmentBatch],
    partitions: Mapping[PartitionId, PartitionEnd],
    producers: Mapping[ProducerKey, ProducerState],
    committed_ms: int,
) -> Placement:
    """Take the batches in order; each is stored at its partition's end, or refused and left as dead bytes."""
    placing = _Placing(segment, partitions, producers, committed_ms)
    results = [placing.take(batch) for batch in batches]
    return placing.placement(results)


class _End:
    """A partition's end while a commit moves it."""

    __slots__ = ("bytes_added", "last_span", "log_start", "next_offset", "running_max_timestamp_ms")

    def __init__(self, found: PartitionEnd) -> None:
        self.log_start, self.next_offset, self.running_max_timestamp_ms = found
        self.bytes_added = 0
        self.last_span: int | None = None
        """Position of this partition's latest span in the list of spans."""

    def growth(self) -> Growth:
        return Growth(self.next_offset, self.bytes_added, self.running_max_timestamp_ms)


class _Placing:
    """The running state of one commit. Spans grow until a batch does not continue them."""

    def __init__(
        self,
        segment: SegmentId,
        partitions: Mapping[PartitionId, PartitionEnd],
        producers: Mapping[ProducerKey, ProducerState],
        committed_ms: int,
    ) -> None:
        self._segment = segment
        self._committed_ms = committed_ms
        self._ends = {partition: _End(found) for partition, found in partitions.items()}
        self._found_producers = producers
        self._producers: dict[ProducerKey, ProducerState] = {}
        self._spans: list[PlacedSpan] = []

    def take(self, batch: SegmentBatch) -> BatchResult:
        end = self._ends.get(batch.partition)
        if end is None:
            return BatchResult(BatchStatus.UNKNOWN_PARTITION, NO_OFFSET, NO_TIME, NO_OFFSET)
        if batch.producer_id != NO_PRODUCER:
            return self._take_in_sequence(batch, end)
        return BatchResult(BatchStatus.STORED, self._append(batch, end), batch.append_ms, end.log_start)

    def placement(self, results: Sequence[BatchResult]) -> Placement:
        grown = {partition: end.growth() for partition, end in self._ends.items() if end.bytes_added}
        return Placement(results=results, spans=self._spans, growth=grown, producers=self._producers)

    def _take_in_sequence(self, batch: SegmentBatch, end: _End) -> BatchResult:
        key = (batch.partition, batch.producer_id)
        state = self._producers.get(key) or self._found_producers.get(key)
        verdict = judge(state, batch.producer_epoch, batch.base_sequence, batch.records)
        if verdict.status is not BatchStatus.STORED:
            return BatchResult(verdict.status, verdict.base_offset, verdict.append_ms, end.log_start)
        base_offset = self._append(batch, end)
        self._producers[key] = remember(
            state, batch.producer_epoch, batch.base_sequence, batch.records, base_offset, batch.append_ms
        )
        return BatchResult(BatchStatus.STORED, base_offset, batch.append_ms, end.log_start)

    def _append(self, batch: SegmentBatch, end: _End) -> int:
        """Store the batch; returns its base offset."""
        base_offset = end.next_offset
        end.next_offset += batch.records
        end.bytes_added += batch.length
        end.running_max_timestamp_ms = max(end.running_max_timestamp_ms, batch.max_timestamp_ms)
        if end.last_span is not None and _continues(self._spans[end.last_span], batch):
            self._spans[end.last_span] = _extended(self._spans[end.last_span], batch, end)
        else:
            end.last_span = len(self._spans)
            self._spans.append(self._span(batch, base_offset, end))
        return base_offset

    def _span(self, batch: SegmentBatch, base_offset: int, end: _End) -> PlacedSpan:
        return PlacedSpan(
            batch.partition,
            base_offset,
            end.next_offset - 1,
            self._segment,
            batch.at,
            batch.length,
            batch.max_timestamp_ms,
            end.running_max_timestamp_ms,
            batch.append_ms,
            self._committed_ms,
        )


def _continues(span: PlacedSpan, batch: SegmentBatch) -> bool:
    """Whether the batch continues the span. A refused batch in between leaves a gap, which splits the span."""
    return batch.at == span.at + span.length and batch.append_ms == span.append_ms


def _extended(span: PlacedSpan, batch: SegmentBatch, end: _End) -> PlacedSpan:
    return PlacedSpan(
        span.partition_id,
        span.base_offset,
        end.next_offset - 1,
        span.segment_id,
        span.at,
        span.length + batch.length,
        max(span.max_timestamp_ms, batch.max_timestamp_ms),
        end.running_max_timestamp_ms,
        span.append_ms,
        span.committed_ms,
    )
