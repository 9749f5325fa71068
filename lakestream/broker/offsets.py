"""Offsets: where a partition begins and ends, and the exact record at a time.

Every answer comes from a fresh read of the store, so it holds all that was acknowledged, by any broker,
before the question.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import UnknownPartition
from lakestream.model.place import FileSpan, Span, Tail
from lakestream.model.topic import PartitionId
from lakestream.storage.reader.placed import batches_of
from lakestream.storage.reader.reader import Reader
from lakestream.storage.records.timestamps import first_at_or_after, max_timestamp
from lakestream.world.threads import Threads


class OffsetAtTime(NamedTuple):
    """No such record: offset -1, timestamp -1."""

    offset: int
    timestamp_ms: int


NONE = OffsetAtTime(-1, -1)
SPANS_PER_READ = 256


class Offsets:
    def __init__(self, store: MetadataStore, reader: Reader, threads: Threads, decompressed_bytes_max: int) -> None:
        self._store = store
        self._reader = reader
        self._threads = threads
        self._decompressed_bytes_max = decompressed_bytes_max

    async def tail(self, partition: PartitionId) -> Tail:
        """Raises UnknownPartition."""
        size = (await self._store.tails([partition])).get(partition)
        if size is None:
            raise UnknownPartition("the partition was deleted")
        return size.tail

    async def tails(self, partitions: Sequence[PartitionId]) -> dict[PartitionId, Tail]:
        """One read for all. Partitions that were deleted are absent."""
        return {partition: size.tail for partition, size in (await self._store.tails(partitions)).items()}

    async def at_time(self, partition: PartitionId, timestamp_ms: int) -> OffsetAtTime:
        """The first record whose timestamp is this or later."""
        log_start = (await self.tail(partition)).log_start
        span = await self._store.span_at_time(partition, timestamp_ms)
        while span is not None:
            found = await self._in_span(span, log_start, timestamp_ms)
            if found is not None:
                return found
            # only a record below log_start matched: the span is cut through by it
            span = await self._next_span(partition, span.last_offset + 1, timestamp_ms)
        return NONE

    async def at_max_timestamp(self, partition: PartitionId) -> OffsetAtTime:
        """The first record that has the partition's greatest timestamp."""
        log_start = (await self.tail(partition)).log_start
        span = await self._store.span_of_max_timestamp(partition)
        if span is None:
            return NONE
        if span.base_offset >= log_start:
            return await self.at_time(partition, span.max_timestamp_ms)
        return await self._max_after_cut(partition, log_start)

    async def _max_after_cut(self, partition: PartitionId, log_start: int) -> OffsetAtTime:
        """The same, where log_start cuts through the span that had it: the record may be among the deleted."""
        best, offset = NONE, log_start
        while True:
            (view,) = await self._store.views([ViewAsk(partition, offset, SPANS_PER_READ)])
            if view is None or not view.spans:
                return best
            for span in view.spans:
                if span.max_timestamp_ms > best.timestamp_ms:
                    best = max(best, await self._max_in_span(span, log_start), key=lambda each: each.timestamp_ms)
            offset = view.spans[-1].last_offset + 1

    async def _next_span(self, partition: PartitionId, offset: int, timestamp_ms: int) -> Span | FileSpan | None:
        """The first span from `offset` on that has a record of this time or later."""
        while True:
            (view,) = await self._store.views([ViewAsk(partition, offset, SPANS_PER_READ)])
            if view is None or not view.spans:
                return None
            for span in view.spans:
                if span.max_timestamp_ms >= timestamp_ms:
                    return span
            offset = view.spans[-1].last_offset + 1

    async def _in_span(self, span: Span | FileSpan, log_start: int, timestamp_ms: int) -> OffsetAtTime | None:
        if isinstance(span, FileSpan):
            found = await self._reader.by_time(span, timestamp_ms, log_start)
            return None if found is None else OffsetAtTime(*found)
        if span.append_ms >= 0:
            return OffsetAtTime(max(span.base_offset, log_start), span.append_ms)
        pieces = await self._reader.span_bytes(span)
        return await self._threads.run(self._search, span, pieces, log_start, timestamp_ms)

    async def _max_in_span(self, span: Span | FileSpan, log_start: int) -> OffsetAtTime:
        if isinstance(span, FileSpan):
            found = await self._reader.max_timestamp(span, log_start)
            return NONE if found is None else OffsetAtTime(*found)
        if span.append_ms >= 0:
            return OffsetAtTime(max(span.base_offset, log_start), span.append_ms)
        pieces = await self._reader.span_bytes(span)
        return await self._threads.run(self._search_max, span, pieces, log_start)

    def _search_max(self, span: Span, pieces: Sequence[memoryview], log_start: int) -> OffsetAtTime:
        best = NONE
        for base, last, data in batches_of(span, pieces):
            if last < log_start:
                continue
            record = max_timestamp(data, from_delta=max(0, log_start - base), bytes_max=self._decompressed_bytes_max)
            if record is not None and record.timestamp_ms > best.timestamp_ms:
                best = OffsetAtTime(base + record.offset_delta, record.timestamp_ms)
        return best

    def _search(
        self, span: Span, pieces: Sequence[memoryview], log_start: int, timestamp_ms: int
    ) -> OffsetAtTime | None:
        for base, last, data in batches_of(span, pieces):
            if last < log_start:
                continue
            record = first_at_or_after(
                data, timestamp_ms, from_delta=max(0, log_start - base), bytes_max=self._decompressed_bytes_max
            )
            if record is not None:
                return OffsetAtTime(base + record.offset_delta, record.timestamp_ms)
        return None
