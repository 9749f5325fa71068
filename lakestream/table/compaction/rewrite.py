"""Rewriting: one task's spans become a file of the table. Runs in Spark's workers; the driver sees descriptors only.

    GET spans -> decode (compiled) -> rows -> Parquet in memory, row group by row group -> one PUT
                                   -> batches that cannot be read -> a second file, for the branch `log` alone

What goes wrong with a task is told in its result and concerns its topic alone. The name of a file has the number of the
attempt in it: Spark may begin a task again, and objects are never overwritten.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from lakestream.model.errors import LakestreamError, SegmentLost
from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.tablefile.descriptor import FileDescriptor
from lakestream.storage.tablefile.sink import Parts
from lakestream.storage.tablefile.stretch import Stretch, stretches_of_span
from lakestream.storage.tablefile.write import TableFileWriter
from lakestream.table.compaction.span_bytes import Blocks, Piece, joinable
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.world.objects.store import Buffer, ObjectStore
from lakestream.world.threads import Threads

DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024
"""What the gate lets a batch unpack to; one that is larger is kept as it is."""


async def rewrite_task(task: RewriteTask, *, objects: ObjectStore, threads: Threads, attempt: int = 0) -> TaskResult:
    """Both files are durable when this returns; with an error, none may be used."""
    error: str | None = None
    files = _Files(None, None)
    try:
        files = await _rewritten(task, f"{task.number:05d}-{attempt}", objects, threads)
    except* LakestreamError as group:
        error = _first(group)
    return TaskResult(
        job=task.job, number=task.number, attempt=attempt, file=files.file, log_file=files.log_file, error=error
    )


class _Files(NamedTuple):
    file: FileDescriptor | None
    log_file: FileDescriptor | None


async def _rewritten(task: RewriteTask, name: str, objects: ObjectStore, threads: Threads) -> _Files:
    writing = _Writing(name)
    async with asyncio.TaskGroup() as group:
        blocks = Blocks(task.spans, objects, group)
        for together in joinable(task.spans):
            await threads.run(writing.add, await blocks.piece(together))
    files = await threads.run(writing.finish, task.folder)
    for file, parts in writing.contents():
        await objects.put(f"{task.folder_key}/{file}", parts)
    return files


class _Writing:
    """The two files of a task while they are written; each exists once it has a row."""

    def __init__(self, name: str) -> None:
        self._names = (f"{name}.parquet", f"{name}-log.parquet")
        self._sinks = (Parts(), Parts())
        self._writers: list[TableFileWriter | None] = [None, None]

    def add(self, piece: Piece) -> None:
        for stretch in _stretches(piece):
            which = int(stretch.is_raw)
            writer = self._writers[which]
            if writer is None:
                writer = self._writers[which] = TableFileWriter(self._sinks[which], with_form=stretch.is_raw)
            writer.add(stretch)

    def finish(self, folder: str) -> _Files:
        closed = [
            None if writer is None else writer.close(path=f"{folder}/{name}")
            for writer, name in zip(self._writers, self._names, strict=True)
        ]
        return _Files(*closed)

    def contents(self) -> Iterator[tuple[str, list[Buffer]]]:
        for name, sink, writer in zip(self._names, self._sinks, self._writers, strict=True):
            if writer is not None:
                yield name, sink.parts


def _stretches(piece: Piece) -> Iterator[Stretch]:
    """The piece's records, checked against what the index says of them. Raises SegmentLost."""
    last_offset = piece.base_offset - 1
    try:
        for stretch in stretches_of_span(
            piece.data,
            partition=piece.number,
            base_offset=piece.base_offset,
            append_ms=piece.append_ms,
            decompressed_bytes_max=DECOMPRESSED_BYTES_MAX,
        ):
            last_offset = stretch.last_offset
            if (kept := _from_offset(stretch, piece.start)) is not None:
                yield kept
    except CorruptBatch as error:
        raise SegmentLost(f"segments {_named(piece)} are damaged: {error}. Restore the objects") from error
    if last_offset != piece.last_offset:
        raise SegmentLost(
            f"segments {_named(piece)} hold offsets to {last_offset} where the index says {piece.last_offset}: "
            "restore the objects"
        )


def _from_offset(stretch: Stretch, start: int) -> Stretch | None:
    """Without the records below `start`. A batch that cannot be read cannot be cut: readers skip what is below."""
    first = stretch.rows.column("offset")[0].as_py()
    if first >= start or (stretch.is_raw and stretch.last_offset >= start):
        return stretch
    if stretch.last_offset < start:
        return None
    return replace(stretch, rows=stretch.rows.slice(start - first))


def _named(piece: Piece) -> str:
    return ", ".join(sorted(set(piece.segments)))


def _first(group: BaseExceptionGroup[LakestreamError]) -> str:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)
