"""Reads a file that another engine appended to a topic's table as a stretch of the log.

    footer (kept) -> row group, by one GET (kept) -> pieces of rows -> records by the encoding -> batches (kept)

Such a file has no offsets: the rows of the span take its offsets in their order, and all have the span's time. Row
groups of other writers are large, so records are composed and encoded in pieces, the next one ahead of its use.
"""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.model.place import FileSpan
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import EncodedBatch, encode_placed
from lakestream.storage.records.run import Run
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.file_stretch import FileStretch
from lakestream.storage.tablefile.format.parquet_footer import parquet_metadata
from lakestream.storage.tablefile.format.typed import Composer
from lakestream.storage.tablefile.read.answer import TakenBatches, bytes_of
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.from_columns import no_headers
from lakestream.storage.tablefile.read.loading import TableFileObjects, TableReadMetrics
from lakestream.storage.tablefile.read.shared_cache import SharedCache
from lakestream.storage.tablefile.read.times import RecordAtTime
from lakestream.storage.tablefile.write.metrics import starts_at
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads

PIECE_ROWS = 16_384
"""Rows that become batches at one go."""
TAIL_BYTES = 64 * 1024
ENCODING_BYTES_MAX = 16 * 1024 * 1024
LOADS_MAX = 2
"""Row groups loading at once: those of other writers may take hundreds of megabytes each."""
_SMALL_BYTES_MAX = 16 * 1024 * 1024
"""For footers and encodings in memory."""


class _Piece(NamedTuple):
    """Rows of a row group."""

    group: int
    first: int
    """The number of its first row in the group."""
    rows: int
    base: int
    """The number of its first row in the file."""


class _PieceKey(NamedTuple):
    file: str
    base_offset: int
    base: int
    encoding: Encoding


class _Footer(NamedTuple):
    path: str
    metadata: pq.FileMetaData
    ends: tuple[int, ...]
    """By row group, the number of the row after its last one."""

    def piece_at(self, row: int) -> _Piece:
        group = bisect_right(self.ends, row)
        start = self.ends[group - 1] if group else 0
        first = (row - start) // PIECE_ROWS * PIECE_ROWS
        return _Piece(group, first, min(PIECE_ROWS, self.ends[group] - start - first), start + first)


class AppendedFiles:
    def __init__(
        self,
        objects: TableFileObjects,
        threads: Threads,
        tasks: Tasks,
        metrics: TableReadMetrics,
        composer: Composer,
        *,
        cache_bytes_max: int,
    ) -> None:
        self._objects = objects
        self._threads = threads
        self._metrics = metrics
        self._composer = composer
        self._loads = asyncio.Semaphore(LOADS_MAX)
        self._footers: SharedCache[str, _Footer] = SharedCache(_SMALL_BYTES_MAX, _held_bytes, tasks)
        self._encodings: SharedCache[str, str] = SharedCache(_SMALL_BYTES_MAX, len, tasks)
        self._groups: SharedCache[tuple[str, int], pa.Table] = SharedCache(
            cache_bytes_max, lambda table: int(table.nbytes), tasks
        )
        self._latest: dict[tuple[str, int], pa.Table] = {}
        self._batches: SharedCache[_PieceKey, list[EncodedBatch]] = SharedCache(cache_bytes_max, bytes_of, tasks)

    async def read(self, span: FileSpan, offset: int, bytes_max: int, *, at_least_one: bool, encoding: Encoding) -> Run:
        footer = await self._footer(span)
        answer = TakenBatches(offset, bytes_max, at_least_one=at_least_one)
        while answer.next_offset <= span.last_offset:
            piece = footer.piece_at(answer.next_offset - span.base_offset)
            left = answer.take(await self._batches_of(span, footer, piece, encoding))
            after = piece.base + piece.rows
            if after < span.rows:
                self._begin(span, footer, footer.piece_at(after), encoding)
            if left or answer.room < encoding.batch_bytes_max:
                break
        return answer.run()

    async def records(self, span: FileSpan, start: int, end: int) -> AsyncIterator[pa.RecordBatch]:
        """The records with offsets in [start, end), for readers that want no batches."""
        footer = await self._footer(span)
        at, until = max(start, span.base_offset), min(end, span.last_offset + 1)
        while at < until:
            piece = footer.piece_at(at - span.base_offset)
            text, table = await self._contents(span, footer, piece)
            whole = await self._threads.run(self._records, span, text, table, piece)
            base = span.base_offset + piece.base
            yield whole.slice(at - base, until - at)
            at = base + piece.rows

    def by_time(self, span: FileSpan, timestamp_ms: int, from_offset: int) -> RecordAtTime | None:
        """All records of the span have its time."""
        reached = timestamp_ms <= span.max_timestamp_ms and from_offset <= span.last_offset
        return RecordAtTime(max(from_offset, span.base_offset), span.max_timestamp_ms) if reached else None

    async def _footer(self, span: FileSpan) -> _Footer:
        footer = await self._footers.get(span.file, partial(self._load_footer, span.file))
        if footer.ends[-1:] != (span.rows,):
            raise MalformedTableFile(
                f"table file {span.file} has {footer.metadata.num_rows} rows where its commit named {span.rows}: "
                "restore the object"
            )
        return footer

    async def _load_footer(self, path: str) -> _Footer:
        metadata = await parquet_metadata(self._objects, path, TAIL_BYTES)
        ends = accumulate(metadata.row_group(at).num_rows for at in range(metadata.num_row_groups))
        return _Footer(path, metadata, tuple(ends))

    def _begin(self, span: FileSpan, footer: _Footer, piece: _Piece, encoding: Encoding) -> None:
        key = _PieceKey(span.file, span.base_offset, piece.base, encoding)
        self._batches.make_ahead(key, partial(self._encode, span, footer, piece, encoding), encoding.batch_bytes_max)

    async def _batches_of(
        self, span: FileSpan, footer: _Footer, piece: _Piece, encoding: Encoding
    ) -> list[EncodedBatch]:
        key = _PieceKey(span.file, span.base_offset, piece.base, encoding)
        return await self._batches.get(key, partial(self._encode, span, footer, piece, encoding))

    async def _encode(self, span: FileSpan, footer: _Footer, piece: _Piece, encoding: Encoding) -> list[EncodedBatch]:
        text, table = await self._contents(span, footer, piece)
        return await self._threads.run(self._encoded, span, text, table, piece, encoding)

    async def _contents(self, span: FileSpan, footer: _Footer, piece: _Piece) -> tuple[str, pa.Table]:
        """The encoding of the span, and the row group of the piece."""
        assert span.encoding is not None, "a file of our own has no encoding"
        text = await self._encodings.get(span.encoding, partial(self._load_encoding, span.encoding))
        return text, await self._group(footer, piece.group)

    async def _group(self, footer: _Footer, group: int) -> pa.Table:
        """The row groups read last stay in memory however large they are, since their pieces follow each other."""
        key = (footer.path, group)
        if (table := self._latest.get(key)) is None:
            table = await self._groups.get(key, partial(self._load_group, footer, group))
            self._latest[key] = table
            while len(self._latest) > LOADS_MAX:
                self._latest.pop(next(iter(self._latest)))
        return table

    async def _load_encoding(self, path: str) -> str:
        content, _ = await self._objects.get_tail(path, ENCODING_BYTES_MAX)
        return bytes(content).decode()

    async def _load_group(self, footer: _Footer, group: int) -> pa.Table:
        async with self._loads:
            columns = footer.metadata.row_group(group)
            chunks = [columns.column(at) for at in range(columns.num_columns)]
            start = min(map(starts_at, chunks))
            end = max(starts_at(chunk) + chunk.total_compressed_size for chunk in chunks)
            data = await self._objects.get_range(footer.path, start, end - start)
            self._metrics.table_file_read(bytes=len(data))
            return await self._threads.run(_rows_of_group, footer, group, FileStretch(data, start))

    def _encoded(
        self, span: FileSpan, text: str, table: pa.Table, piece: _Piece, encoding: Encoding
    ) -> list[EncodedBatch]:
        records = self._records(span, text, table, piece)
        return encode_placed(records, batch_bytes_max=encoding.batch_bytes_max, codec=encoding.codec)

    def _records(self, span: FileSpan, text: str, table: pa.Table, piece: _Piece) -> pa.RecordBatch:
        (rows,) = table.slice(piece.first, piece.rows).combine_chunks().to_batches()
        try:
            composed = self._composer.compose(text, rows)
        except (ValueError, LookupError, pa.ArrowException) as error:
            raise MalformedTableFile(
                f"the rows of table file {span.file} from {piece.base} on cannot become records: {error}"
            ) from error
        offsets = np.arange(piece.rows, dtype=np.int64) + (span.base_offset + piece.base)
        times = np.full(piece.rows, span.max_timestamp_ms, np.int64)
        columns = [pa.array(offsets), pa.array(times), *composed, no_headers(piece.rows)]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def _rows_of_group(footer: _Footer, group: int, source: FileStretch) -> pa.Table:
    try:
        file = pq.ParquetFile(pa.PythonFile(source, mode="r"), metadata=footer.metadata, pre_buffer=False)
        return file.read_row_group(group, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise MalformedTableFile(f"row group {group} of table file {footer.path} is damaged: {error}") from error


def _held_bytes(footer: _Footer) -> int:
    return int(footer.metadata.serialized_size)
