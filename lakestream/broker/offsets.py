"""Offset lookups: where a partition begins and ends, and the exact record at a time.

Every answer comes from a fresh read of the store, so it covers everything that any broker acknowledged before the
request. An object missing behind it means that its records have moved meanwhile: look again, then fail loudly, as fetch
does.

A batch that cannot be opened counts as one record with the greatest time of its header, in the WAL and in a table.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from lakestream.broker.losses import Losses
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import LakestreamError, ObjectMissing, SegmentLost, UnknownPartition
from lakestream.model.place import FileSpan, Span, Tail
from lakestream.model.topic import PartitionId
from lakestream.storage.reader.placed import PlacedBatch, batches_of
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.records.errors import BadBatch
from lakestream.storage.records.header import read_header
from lakestream.storage.records.timestamps import Found, first_at_or_after, max_timestamp
from lakestream.world.threads import Threads

T = TypeVar("T")


class OffsetAtTime(NamedTuple):
    """Offset -1 and timestamp -1 if there is no such record."""

    offset: int
    timestamp_ms: int


NONE = OffsetAtTime(-1, -1)
SPANS_PER_READ = 256


class _Unreadable(Exception):
    """A span that a lookup needs and cannot read. Carries the first offset that counts."""

    def __init__(self, offset: int, error: LakestreamError) -> None:
        super().__init__(str(error))
        self.offset = offset
        self.error = error


class Offsets:
    def __init__(
        self, store: MetadataStore, reader: LogReader, threads: Threads, losses: Losses, decompressed_bytes_max: int
    ) -> None:
        self._store = store
        self._reader = reader
        self._threads = threads
        self._losses = losses
        self._decompressed_bytes_max = decompressed_bytes_max

    async def tail(self, partition: PartitionId) -> Tail:
        """Raises UnknownPartition."""
        size = (await self._store.tails([partition])).get(partition)
        if size is None:
            raise UnknownPartition("the partition was deleted")
        return size.tail

    async def tails(self, partitions: Sequence[PartitionId]) -> dict[PartitionId, Tail]:
        """One read for all. Deleted partitions are absent."""
        return {partition: size.tail for partition, size in (await self._store.tails(partitions)).items()}

    async def at_time(self, partition: PartitionId, timestamp_ms: int) -> OffsetAtTime:
        """The first record whose timestamp is this or later."""
        return await self._looked_up(partition, partial(self._at_time, partition, timestamp_ms))

    async def at_max_timestamp(self, partition: PartitionId) -> OffsetAtTime:
        """The first record that has the partition's greatest timestamp."""
        return await self._looked_up(partition, partial(self._at_max_timestamp, partition))

    async def _looked_up(self, partition: PartitionId, look: Callable[[], Awaitable[OffsetAtTime]]) -> OffsetAtTime:
        try:
            return await look()
        except _Unreadable as met:
            if not isinstance(met.error, ObjectMissing):
                raise self._told(partition, met) from met
        try:
            return await look()
        except _Unreadable as met:
            raise self._told(partition, met) from met

    def _told(self, partition: PartitionId, met: _Unreadable) -> LakestreamError:
        error = met.error
        if isinstance(error, ObjectMissing):
            error = SegmentLost(f"records from offset {met.offset} on cannot be read: {error}. Restore the object")
        self._losses.met(partition, met.offset, error)
        return error

    async def _at_time(self, partition: PartitionId, timestamp_ms: int) -> OffsetAtTime:
        log_start = (await self.tail(partition)).log_start
        span = await self._store.span_at_time(partition, timestamp_ms)
        while span is not None:
            found = await _read(span, log_start, self._in_span(span, log_start, timestamp_ms))
            if found is not None:
                return found
            # Only a record below log_start matched: log_start lies within this span.
            span = await self._next_span(partition, span.last_offset + 1, timestamp_ms)
        return NONE

    async def _at_max_timestamp(self, partition: PartitionId) -> OffsetAtTime:
        log_start = (await self.tail(partition)).log_start
        span = await self._store.span_of_max_timestamp(partition)
        if span is None:
            return NONE
        if _may_be_cut(span, log_start):
            return await self._max_after_cut(partition, log_start)
        return await self._at_time(partition, span.max_timestamp_ms)

    async def _max_after_cut(self, partition: PartitionId, log_start: int) -> OffsetAtTime:
        """The record with the greatest timestamp, if that record may have been deleted.

        Only the first span can contain deleted records. All other spans carry their greatest time, so this opens at
        most one of them."""
        best, latest, offset = NONE, None, log_start
        while True:
            (view,) = await self._store.views([ViewAsk(partition, offset, SPANS_PER_READ)])
            if view is None or not view.spans:
                break
            for span in view.spans:
                if _may_be_cut(span, log_start):
                    best = await _read(span, log_start, self._max_in_span(span, log_start))
                elif span.max_timestamp_ms > (best.timestamp_ms if latest is None else latest.max_timestamp_ms):
                    latest = span
            offset = view.spans[-1].last_offset + 1
        return best if latest is None else await _read(latest, log_start, self._max_in_span(latest, log_start))

    async def _next_span(self, partition: PartitionId, offset: int, timestamp_ms: int) -> Span | FileSpan | None:
        """The first span from `offset` on that contains a record of this time or later."""
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
            return NONE if found is None or found.timestamp_ms < 0 else OffsetAtTime(*found)
        if span.append_ms >= 0:
            return OffsetAtTime(max(span.base_offset, log_start), span.append_ms)
        pieces = await self._reader.span_bytes(span)
        return await self._threads.run(self._search_max, span, pieces, log_start)

    def _search_max(self, span: Span, pieces: Sequence[memoryview], log_start: int) -> OffsetAtTime:
        best = NONE
        for batch in batches_of(span, pieces):
            if batch.last_offset < log_start:
                continue
            record = self._record(batch, log_start, max_timestamp)
            if record is not None and record.timestamp_ms > best.timestamp_ms:
                best = record
        return best

    def _search(
        self, span: Span, pieces: Sequence[memoryview], log_start: int, timestamp_ms: int
    ) -> OffsetAtTime | None:
        for batch in batches_of(span, pieces):
            if batch.last_offset < log_start:
                continue
            record = self._record(batch, log_start, partial(first_at_or_after, timestamp_ms=timestamp_ms))
            if record is not None and record.timestamp_ms >= timestamp_ms:
                return record
        return None

    def _record(self, batch: PlacedBatch, log_start: int, find: Callable[..., Found | None]) -> OffsetAtTime | None:
        """The record that `find` returns for a batch, from `log_start` on."""
        from_delta = max(0, log_start - batch.base_offset)
        try:
            found = find(batch.data, from_delta=from_delta, bytes_max=self._decompressed_bytes_max)
        except BadBatch:
            found = Found(from_delta, read_header(batch.data).max_timestamp_ms)
        return None if found is None else OffsetAtTime(batch.base_offset + found.offset_delta, found.timestamp_ms)


def _may_be_cut(span: Span | FileSpan, log_start: int) -> bool:
    """Whether the span's greatest time may belong to a record below log_start.

    This includes a file that begins at log_start. An older version may have written it from the rest of a WAL span,
    with the greatest time of the whole span."""
    if isinstance(span, FileSpan) and log_start > 0:
        return span.base_offset <= log_start
    return span.base_offset < log_start


async def _read(span: Span | FileSpan, log_start: int, finding: Awaitable[T]) -> T:
    try:
        return await finding
    except LakestreamError as error:
        raise _Unreadable(max(span.base_offset, log_start), error) from error
