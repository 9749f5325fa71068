"""Rewrites one task's spans into a file of the table. Runs in Spark's workers; the driver sees descriptors only.

    GET spans -> decode (compiled) -> values to columns -> rows -> Parquet in memory, row group by row group -> one PUT
                                   -> rows that SQL should not see -> a second file, for the branch `log` alone
                                   -> of these, values set aside -> once more, for the branch `quarantine`

A task reports its errors in its result; they concern its topic alone. The name of a file contains the number of the
attempt: Spark may start a task again, and objects are never overwritten.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from lakestream.contract.topic.topic_contract import NO_NEEDS, Needs, ValueMode
from lakestream.contract.values.decoding.detecting import detected
from lakestream.model.errors import InvalidRequest, SegmentLost, what_went_wrong
from lakestream.model.transaction import AbortedRange
from lakestream.storage.records.aborted import NOTHING_ABORTED, AbortedBatches
from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.format.sink import Parts
from lakestream.storage.tablefile.write.stretch import Stretch, stretches_of_span
from lakestream.storage.tablefile.write.writer import TableFileWriter
from lakestream.table.arrangement.clustered_files import ClusteredFile, ClusterWork, WrittenFile, clustered_files
from lakestream.table.compaction.merged_file import Content, MergeSource, MergeWork, merged_file
from lakestream.table.compaction.set_aside import SetAside, repaired, rows_set_aside
from lakestream.table.compaction.span_bytes import GETS_MAX, Blocks, Piece, joinable
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.compaction.typed_rows import TypedRows, quarantined
from lakestream.world.objects.store import Buffer, ObjectStore
from lakestream.world.threads import Threads

ATTEMPTS_MAX = 10
"""Spark starts a task less often: its default is four times."""
DECOMPRESSED_BYTES_MAX = 256 * 1024 * 1024
"""The size to which the broker lets a batch unpack. A larger one is kept as it is."""


async def rewrite_task(task: RewriteTask, *, objects: ObjectStore, threads: Threads, attempt: int = 0) -> TaskResult:
    """All files are durable when this returns. If the result has an error, none of them may be used."""
    result = TaskResult(job=task.job, number=task.number, attempt=attempt)
    try:
        return await _rewritten(task, result, objects, threads)
    except* Exception as group:  # noqa: BLE001 - raised here, whatever it is would end the round of all topics
        failed = replace(result, error=_first(group))
    return failed


async def _rewritten(task: RewriteTask, result: TaskResult, objects: ObjectStore, threads: Threads) -> TaskResult:
    name = f"{task.number:05d}-{task.turn * ATTEMPTS_MAX + result.attempt}"
    if task.merge is not None:
        return await _merged(task, task.merge, result, name, objects, threads)
    if task.cluster is not None:
        return await _clustered(task, task.cluster, result, name, objects, threads)
    writing = _Writing(task, name)
    if task.set_aside is not None:
        await threads.run(writing.add_repaired, task.set_aside, await _contents(task.set_aside, objects))
    async with asyncio.TaskGroup() as group:
        blocks = Blocks(task.spans, objects, group)
        for together in joinable(task.spans):
            await threads.run(writing.add, await blocks.piece(together))
    if task.is_probe:
        return replace(result, needs=writing.needs)
    written = await threads.run(writing.finish, result)
    async with asyncio.TaskGroup() as group:  # each waits for the disk or the network, at most three of them
        for file, parts in writing.contents():
            group.create_task(objects.put(f"{task.folder_key}/{file}", parts))
    return written


async def _merged(
    task: RewriteTask, work: MergeWork, result: TaskResult, name: str, objects: ObjectStore, threads: Threads
) -> TaskResult:
    """The files of the work as one, and those with rows that only `log` shows as another one."""
    places = asyncio.Semaphore(GETS_MAX)

    async def content(source: MergeSource) -> Content:
        async with places:
            return source.path, await objects.get(source.key)

    written: dict[int, FileDescriptor] = {}
    for which in (MAIN, LOG):
        own = [source for source in work.sources if source.only_log is (which == LOG)]
        if own:
            file = f"{name}{_ENDINGS[which]}"
            contents = await asyncio.gather(*map(content, own))
            merge = partial(merged_file, path=f"{task.folder}/{file}", compression=task.compression)
            parts, written[which] = await threads.run(merge, contents)
            await objects.put(f"{task.folder_key}/{file}", parts)
    return replace(result, file=written.get(MAIN), log_file=written.get(LOG))


async def _clustered(
    task: RewriteTask, work: ClusterWork, result: TaskResult, name: str, objects: ObjectStore, threads: Threads
) -> TaskResult:
    """The files of the work as files of one partition each. One at a time is in memory, besides the rows."""
    contents = [(source.path, await objects.get(source.key)) for source in work.sources]
    files = clustered_files(contents, work, folder=task.folder, name=name, compression=task.compression)

    def following() -> WrittenFile | None:
        return next(files, None)

    found: list[ClusteredFile] = []
    while (written := await threads.run(following)) is not None:
        await objects.put(f"{task.folder_key}/{written.name}", written.parts)
        found.append(written.clustered)
    return replace(result, clustered=tuple(found))


async def _contents(work: SetAside, objects: ObjectStore) -> list[tuple[str, Buffer]]:
    return [(path, await objects.get(key)) for path, key in zip(work.files, work.keys, strict=True)]


MAIN, LOG, QUARANTINE = range(3)
_ENDINGS = (".parquet", "-log.parquet", "-quarantine.parquet")


class _Writing:
    """The files of a task while they are written. Each is created with its first row."""

    def __init__(self, task: RewriteTask, name: str) -> None:
        self._task = task
        self._names = [f"{name}{ending}" for ending in _ENDINGS]
        self._sinks = (Parts(), Parts(), Parts())
        self._writers: list[TableFileWriter | None] = [None, None, None]
        contract = task.contract
        self._typed = TypedRows(contract) if contract.is_typed or contract.has_typed_keys else None
        self._undecided = contract.mode is ValueMode.UNDECIDED
        self._keys_undecided = contract.key is not None and contract.key.mode is ValueMode.UNDECIDED
        ranges: dict[int, list[AbortedRange]] = {}
        for number, aborted in task.aborted:
            ranges.setdefault(number, []).append(aborted)
        self._aborted = {number: AbortedBatches(own) for number, own in ranges.items()}
        self._found = Needs()
        """The format detected from the first records, if nobody has configured one."""

    def add(self, piece: Piece) -> None:
        for stretch in stretches_of(piece, self._aborted.get(piece.number, NOTHING_ABORTED)):
            if not stretch.is_raw:
                self._detect(stretch)
            if self._typed is None:
                self._write(LOG if stretch.is_raw else MAIN, stretch)
            else:
                self._add_typed(stretch, self._typed)

    def add_repaired(self, work: SetAside, contents: Sequence[tuple[str, Buffer]]) -> None:
        if self._typed is None or not self._task.contract.is_typed:
            raise InvalidRequest("the topic's values are bytes now: set lakestream.value.format to what they should be")
        for part in repaired(rows_set_aside(contents), work, self._typed):
            if part.main is not None:
                self._write(MAIN, part.main)
            if part.set_aside is not None:
                self._write(QUARANTINE, part.set_aside)

    def finish(self, result: TaskResult) -> TaskResult:
        if self._task.spans and not any(self._writers):
            self._open(LOG, with_form=False)  # nothing but holes: the log needs a file for them all the same
        rules = "" if self._typed is None else self._typed.decoder.rules().to_text()
        file, log_file, quarantine_file = (
            None if writer is None else writer.close(path=f"{self._task.folder}/{name}", rules=rules)
            for writer, name in zip(self._writers, self._names, strict=True)
        )
        return replace(
            result,
            file=file,
            log_file=log_file,
            quarantine_file=quarantine_file,
            needs=self.needs,
            unread_keys=0 if self._typed is None else self._typed.unread_keys,
        )

    @property
    def needs(self) -> Needs:
        return self._found if self._typed is None else self._found.joined(self._typed.needs)

    def contents(self) -> Iterator[tuple[str, list[Buffer]]]:
        for name, sink, writer in zip(self._names, self._sinks, self._writers, strict=True):
            if writer is not None:
                yield name, sink.parts

    def _detect(self, stretch: Stretch) -> None:
        """Detect the format from the first values, and from the first keys."""
        if self._undecided and self._found.detected is None:
            self._found = self._found.joined(detected(stretch.rows.column("value")) or NO_NEEDS)
        if self._keys_undecided and self._found.of_keys is None:
            self._found = self._found._replace(of_keys=detected(stretch.rows.column("key")))

    def _add_typed(self, stretch: Stretch, typed: TypedRows) -> None:
        for for_log, rows in typed.split(stretch):
            if not for_log:
                self._write(MAIN, rows)
            else:
                self._write(LOG, rows)
                if (set_aside := quarantined(rows)) is not None:
                    self._write(QUARANTINE, set_aside)

    def _write(self, which: int, stretch: Stretch) -> None:
        if self._task.is_probe:
            return
        writer = self._writers[which] or self._open(which, with_form=stretch.is_raw)
        writer.add(stretch)

    def _open(self, which: int, *, with_form: bool) -> TableFileWriter:
        typed, keys = (None, None) if self._typed is None else (self._typed.schema, self._typed.key_schema)
        writer = self._writers[which] = TableFileWriter(
            self._sinks[which],
            with_form=with_form,
            typed=typed,
            keys=keys,
            compression=self._task.compression,
        )
        return writer


def stretches_of(piece: Piece, aborted: AbortedBatches = NOTHING_ABORTED) -> Iterator[Stretch]:
    """The piece's records, checked against the index, without markers and without those of `aborted` transactions.
    Raises SegmentLost."""
    last_offset = piece.base_offset - 1
    try:
        for stretch in stretches_of_span(
            piece.data,
            partition=piece.number,
            base_offset=piece.base_offset,
            append_ms=piece.append_ms,
            decompressed_bytes_max=DECOMPRESSED_BYTES_MAX,
            aborted=aborted,
        ):
            last_offset = stretch.last_offset
            if not stretch.rows.num_rows:
                continue
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
    """The stretch without the records below `start`. An unreadable batch cannot be cut; readers skip its beginning."""
    first = stretch.rows.column("offset")[0].as_py()
    if first >= start or (stretch.is_raw and stretch.last_offset >= start):
        return stretch
    if stretch.last_offset < start:
        return None
    return stretch.slice(start - first)


def _named(piece: Piece) -> str:
    return ", ".join(sorted(set(piece.segments)))


def _first(group: BaseExceptionGroup[Exception]) -> str:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return what_went_wrong(error)
