"""Reads a table file as a log: from a partition's offset to batches that can be sent.

    footer (kept) -> window of row groups -> its bytes, by one GET each -> columns -> batches (kept) -> as many as fit

Decoding and encoding run in threads without the GIL. The reader starts on the next row groups as soon as an answer
comes near the end of the prepared ones, so that a consumer that reads on finds them ready. A single seek starts nothing
but its own row group.

A missing file raises ObjectMissing, as its place may have moved; a damaged one raises MalformedTableFile.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from lakestream.model.errors import LakestreamError
from lakestream.model.place import FileSpan
from lakestream.storage.records.encode import EncodedBatch
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.format.footer import FileFooter, PartitionExtent
from lakestream.storage.tablefile.read import times
from lakestream.storage.tablefile.read.answer import TakenBatches, bytes_of
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.encoded import Encoding, RunRows, encode_in_order, runs_within
from lakestream.storage.tablefile.read.hole import empty_batch
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.shared_cache import SharedCache
from lakestream.storage.tablefile.read.times import RecordAtTime
from lakestream.storage.tablefile.read.window import Window, WindowPart, window_at
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads

AHEAD_WINDOWS = 3
ROWS_SHARE = 4
"""One part in four of the cache is for decoded rows, which are kept only while other partitions or windows need
them."""
DEFAULT_ENCODING = Encoding()


class _WindowKey(NamedTuple):
    files: tuple[str, ...]
    partition: int
    until: int
    encoding: Encoding


class _Reading(NamedTuple):
    """The fixed context of one read."""

    span: FileSpan
    footers: Sequence[FileFooter]
    encoding: Encoding

    def window_at(self, offset: int) -> Window | None:
        return window_at(self.footers, self.span.partition, offset)

    def key(self, window: Window) -> _WindowKey:
        return _WindowKey(self.span.files, self.span.partition, window.until, self.encoding)


class TableFileReader:
    def __init__(
        self, files: TableFiles, appended: AppendedFiles, threads: Threads, tasks: Tasks, *, cache_bytes_max: int
    ) -> None:
        self._files = files
        self._appended = appended
        self._threads = threads
        rows_bytes_max = cache_bytes_max // ROWS_SHARE
        self._rows: SharedCache[tuple[str, int], pa.RecordBatch] = SharedCache(
            rows_bytes_max, lambda rows: int(rows.nbytes), tasks
        )
        self._batches: SharedCache[_WindowKey, list[EncodedBatch]] = SharedCache(
            cache_bytes_max - rows_bytes_max, bytes_of, tasks
        )

    async def read(
        self,
        span: FileSpan,
        offset: int,
        bytes_max: int,
        *,
        at_least_one: bool,
        encoding: Encoding = DEFAULT_ENCODING,
    ) -> Run:
        """Whole batches from the one that holds `offset`: as many as fit, or a single larger one if `at_least_one`."""
        if span.encoding is not None:
            return await self._appended.read(span, offset, bytes_max, at_least_one=at_least_one, encoding=encoding)
        reading = _Reading(span, await self._files.footers(span.files), encoding)
        answer = TakenBatches(offset, bytes_max, at_least_one=at_least_one)
        while answer.next_offset <= span.last_offset:
            window = reading.window_at(answer.next_offset)
            if window is None:
                answer.add(empty_batch(answer.next_offset, span.last_offset))
                break
            self._begin(reading, window.until + 1, answer.room - window.bytes)
            try:
                batches = await self._batches_of(reading, window)
            except LakestreamError:
                if answer.is_empty:
                    raise
                break  # answer with the batches before it; the next read gets the error
            left = answer.take(batches)
            if left or answer.room < encoding.batch_bytes_max:
                self._begin(reading, window.until + 1, bytes_max - left)
                break
            answer.next_offset = max(answer.next_offset, window.until + 1)
        return answer.run()

    async def by_time(self, span: FileSpan, timestamp_ms: int, from_offset: int) -> RecordAtTime | None:
        """The first record, by offset from `from_offset` on, whose time is `timestamp_ms` or later."""
        if span.encoding is not None:
            return self._appended.by_time(span, timestamp_ms, from_offset)
        found = [
            await self._by_time(footer, span.partition, timestamp_ms, from_offset)
            for footer in await self._files.footers(span.files)
        ]
        return min((record for record in found if record is not None), default=None)

    async def max_timestamp(self, span: FileSpan, from_offset: int) -> RecordAtTime | None:
        """The record with the greatest time from `from_offset` on; the first one if several have it."""
        if span.encoding is not None:
            return self._appended.by_time(span, span.max_timestamp_ms, from_offset)
        greatest = [
            await self._latest(footer, extent, from_offset)
            for footer in await self._files.footers(span.files)
            for extent in footer.extents_from(span.partition, from_offset)
        ]
        return await self.by_time(span, max(greatest), from_offset) if greatest else None

    def _begin(self, reading: _Reading, offset: int, bytes_wanted: int) -> None:
        """Start on the windows from an offset on, until they cover `bytes_wanted`."""
        for _ in range(AHEAD_WINDOWS):
            window = reading.window_at(offset)
            if bytes_wanted <= 0 or offset > reading.span.last_offset or window is None:
                return
            encode = partial(self._encode, window, reading.encoding)
            if not self._batches.make_ahead(reading.key(window), encode, window.bytes):
                return
            bytes_wanted -= window.bytes
            offset = window.until + 1

    async def _batches_of(self, reading: _Reading, window: Window) -> list[EncodedBatch]:
        return await self._batches.get(reading.key(window), partial(self._encode, window, reading.encoding))

    async def _encode(self, window: Window, encoding: Encoding) -> list[EncodedBatch]:
        if (part := window.alone) is not None:
            return await self._files.batches(part.footer, part.extent.group, encoding)
        rows = await asyncio.gather(*(self._rows_of(part) for part in window.parts))
        batches = await self._threads.run(_encoded, window, rows, encoding)
        for footer, extent in window.parts:
            if extent.last_offset <= window.until and footer.is_alone(extent):
                self._rows.drop((footer.path, extent.group))
        return batches

    async def _rows_of(self, part: WindowPart) -> pa.RecordBatch:
        footer, group = part.footer, part.extent.group
        return await self._rows.get((footer.path, group), partial(self._files.rows, footer, group))

    async def _by_time(
        self, footer: FileFooter, partition: int, timestamp_ms: int, from_offset: int
    ) -> RecordAtTime | None:
        for extent in footer.extents_from(partition, from_offset):
            if times.may_reach(extent, timestamp_ms, from_offset):
                group_times = await self._files.times(footer, extent.group)
                found = times.first_at_or_after(extent, group_times, timestamp_ms, from_offset)
                if found is not None:
                    return found
        return None

    async def _latest(self, footer: FileFooter, extent: PartitionExtent, from_offset: int) -> int:
        """The greatest time of the extent's records from an offset on. The footer has it, unless the offset lies inside
        the extent."""
        if extent.base_offset >= from_offset:
            return max(placed.run.max_timestamp_ms for placed in extent.runs)
        return times.latest(extent, await self._files.times(footer, extent.group), from_offset)


def _encoded(window: Window, rows: Sequence[pa.RecordBatch], encoding: Encoding) -> list[EncodedBatch]:
    pieces: list[RunRows] = []
    for part, group_rows in zip(window.parts, rows, strict=True):
        pieces.extend(runs_within(group_rows, part.extent.runs, window.after, window.until))
    return encode_in_order(pieces, encoding)
