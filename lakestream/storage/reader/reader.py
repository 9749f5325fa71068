"""LogReader: from a view of a partition to the batches at an offset, in table files and in WAL segments.

    spans of the view -> those in table files, one after the other -> rows, encoded as batches
                      -> those in WAL segments, all at once        -> batches as stored, patched for sending

Offsets in the table lie before those in the WAL, so a read may begin in table files and end in segments. Only files
that engines appended may lie among segments; a read ends before such a file, and the next one begins there. An object
missing behind an index entry means that the place has moved: the caller reads the index again and tries once more
before it fails loudly.

If a place cannot be read, the reader still returns the batches before it. The next read, which starts at that place,
gets the error.
"""

import asyncio
from collections.abc import Sequence
from itertools import pairwise

from lakestream.model.errors import LakestreamError
from lakestream.model.place import FileSpan, PartitionView, Span
from lakestream.storage.reader.placed import run_from
from lakestream.storage.reader.segment_reader import SegmentReader
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.reader import DEFAULT_ENCODING, TableFileReader
from lakestream.storage.tablefile.read.times import RecordAtTime

_Pieces = list[memoryview] | LakestreamError
"""Bytes of a span, or the error that prevented reading them."""


class LogReader:
    def __init__(self, segments: SegmentReader, tables: TableFileReader) -> None:
        self._segments = segments
        self._tables = tables

    async def read(
        self,
        view: PartitionView,
        offset: int,
        bytes_max: int,
        *,
        at_least_one: bool,
        encoding: Encoding = DEFAULT_ENCODING,
        until: int | None = None,
    ) -> Run:
        """Whole batches from `offset`, up to `bytes_max`, or a single larger one if `at_least_one`. `encoding` applies
        to records that lie in a table, as rows. Batches of the WAL from `until` on are left out."""
        wanted = _files_then_segments(spans_within(view.spans, bytes_max))
        files = [span for span in wanted if isinstance(span, FileSpan)]
        segments = [span for span in wanted if isinstance(span, Span)]
        if not files:
            pieces = await self._pieces(segments)
            return _join(segments, pieces, offset, bytes_max, at_least_one=at_least_one, until=until)
        tabled = await self._read_files(files, offset, bytes_max, at_least_one=at_least_one, encoding=encoding)
        if not segments or tabled.next_offset <= files[-1].last_offset:
            return tabled
        left, first = bytes_max - tabled.bytes, at_least_one and not tabled.bytes
        try:
            pieces = await self._pieces(segments)
            rest = _join(segments, pieces, tabled.next_offset, left, at_least_one=first, until=until)
        except LakestreamError:
            if not tabled.bytes:
                raise
            return tabled
        return Run([*tabled.parts, *rest.parts], tabled.bytes + rest.bytes, rest.next_offset)

    async def span_bytes(self, span: Span) -> list[memoryview]:
        return await self._segments.read(span)

    async def by_time(self, span: FileSpan, timestamp_ms: int, from_offset: int) -> RecordAtTime | None:
        """The first record of a file span, from `from_offset` on, whose time is `timestamp_ms` or later."""
        return await self._tables.by_time(span, timestamp_ms, max(from_offset, span.base_offset))

    async def max_timestamp(self, span: FileSpan, from_offset: int) -> RecordAtTime | None:
        """The record with the greatest time from `from_offset` on; the first one if several have it."""
        return await self._tables.max_timestamp(span, max(from_offset, span.base_offset))

    async def _read_files(
        self, spans: Sequence[FileSpan], offset: int, bytes_max: int, *, at_least_one: bool, encoding: Encoding
    ) -> Run:
        parts = []
        total, next_offset = 0, offset
        for span in spans:
            try:
                run = await self._tables.read(
                    span,
                    max(next_offset, span.base_offset),
                    bytes_max - total,
                    at_least_one=at_least_one and not total,
                    encoding=encoding,
                )
            except LakestreamError:
                if not total:
                    raise
                break
            parts.extend(run.parts)
            total += run.bytes
            next_offset = run.next_offset
            if next_offset <= span.last_offset:
                break  # the rest of this span did not fit
        return Run(parts, total, next_offset)

    async def _pieces(self, spans: Sequence[Span]) -> list[_Pieces]:
        """Bytes of each span: from the cache where they are there, otherwise fetched, all at the same time."""
        cached = [self._segments.cached(span) for span in spans]
        missing = [span for span, pieces in zip(spans, cached, strict=True) if pieces is None]
        fetched = iter(await asyncio.gather(*map(self._fetched, missing)) if missing else ())
        return [pieces if pieces is not None else next(fetched) for pieces in cached]

    async def _fetched(self, span: Span) -> _Pieces:
        try:
            return await self._segments.read(span)
        except LakestreamError as error:
            return error


def spans_within(spans: Sequence[Span | FileSpan], bytes_max: int) -> list[Span | FileSpan]:
    """The first spans that together reach `bytes_max`: at least one, if there is any."""
    wanted: list[Span | FileSpan] = []
    total = 0
    for span in spans:
        wanted.append(span)
        total += span.length
        if total >= bytes_max:
            break
    return wanted


def _files_then_segments(spans: Sequence[Span | FileSpan]) -> Sequence[Span | FileSpan]:
    """The spans up to a file that follows a segment."""
    for at, (before, after) in enumerate(pairwise(spans), start=1):
        if isinstance(before, Span) and isinstance(after, FileSpan):
            return spans[:at]
    return spans


def _join(
    spans: Sequence[Span],
    pieces: Sequence[_Pieces],
    offset: int,
    bytes_max: int,
    *,
    at_least_one: bool,
    until: int | None,
) -> Run:
    parts = []
    total, next_offset = 0, offset
    for span, span_pieces in zip(spans, pieces, strict=True):
        try:
            if isinstance(span_pieces, LakestreamError):
                raise span_pieces
            first = at_least_one and not total
            run = run_from(span, span_pieces, next_offset, bytes_max - total, at_least_one=first, until=until)
        except LakestreamError:
            if not total:
                raise
            break
        parts.extend(run.parts)
        total += run.bytes
        next_offset = max(next_offset, run.next_offset)
        if next_offset <= span.last_offset:
            break  # the rest of this span did not fit
    return Run(parts, total, next_offset)
