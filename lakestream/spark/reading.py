"""Reads the ranges of one task from the object store, without a broker: runs in Spark's executors.

    ranges -> table files: row groups          -> rows with the DataFrame's columns -> one partition's offset order
           -> WAL spans: GET, decode (compiled) /

An object that is missing means that its records have moved: upkeep merged files, or compaction moved records out of the
WAL, and the grace is over. The reader then asks the gateway for the places again, and goes on where it stopped.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import pyarrow as pa

from lakestream.broker.located import LocatedObjects
from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.contract.values.composing import RowComposer
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.model.errors import LakestreamError, ObjectMissing, Unavailable
from lakestream.model.place import FileSpan, Span
from lakestream.model.transaction import AbortedRange
from lakestream.spark.gateway_logs import GatewayLogs
from lakestream.spark.inline_objects import WithInline
from lakestream.spark.pulling import Push, pulled
from lakestream.spark.row_shape import DataFrameShape
from lakestream.spark.shown_columns import ShownColumns
from lakestream.storage.records.aborted import AbortedBatches
from lakestream.storage.records.header import Codec
from lakestream.storage.tablefile.format.columns import OFFSET
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.span_rows import SpanRows
from lakestream.storage.tablefile.write.stretch import rows_stretch
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.rewrite import stretches_of
from lakestream.table.compaction.span_bytes import Blocks, Piece, joinable
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import ThreadPool, Threads

REPLANS_MAX = 3
"""How often a reader asks for the places of one range again."""
FOOTER_BYTES_MAX = 32 * 1024 * 1024
APPENDED_BYTES_MAX = 256 * 1024 * 1024
"""Row groups of files that other engines wrote, which may be large."""
_WORKER_THREADS = 4


class RangeToRead(NamedTuple):
    """Offsets [start, end) of a partition, and the spans that hold them."""

    number: int
    start: int
    end: int
    spans: tuple[Span | FileSpan, ...]
    inline: Mapping[Span, bytes] = {}
    """The bytes of the spans that lie in no object."""
    aborted: tuple[AbortedRange, ...] = ()
    """Aborted transactions whose records lie in the spans of the WAL. They are not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowSource:
    """Where the rows of a topic come from, and the columns that they have."""

    topic: str
    gateway: str
    objects_url: str
    objects_options: Mapping[str, str] = field(repr=False)
    contract: str
    columns: ShownColumns


class PlacesMoved(Unavailable):
    """The objects of a plan are gone. Plan anew."""


def read_rows(source: RowSource, ranges: Sequence[RangeToRead]) -> Iterator[pa.RecordBatch]:
    """The rows of the ranges, one range after the other, each in offset order."""

    async def read(push: Push[pa.RecordBatch]) -> None:
        async with AsyncExitStack() as stack:
            clock, threads = SystemClock(), ThreadPool(_WORKER_THREADS, "rows")
            stack.callback(threads.close)
            objects = await open_objects(
                source.objects_url,
                clock=clock,
                ids=Ids(clock, SystemChance()),
                threads=threads,
                options=source.objects_options,
                probe=False,
            )
            stack.push_async_callback(objects.close)
            tasks = Tasks(on_failure=lambda name, error: None)
            stack.push_async_callback(tasks.close)
            reader = _RangeReader(source, objects, threads, tasks, GatewayLogs(source.gateway, clock), push)
            for one in ranges:
                await reader.read(one)

    return pulled(read)


class _NobodyCounts:
    """The metrics of a reader in an executor."""

    def table_file_read(self, *, bytes: int) -> None:
        pass


class _RangeReader:
    def __init__(
        self,
        source: RowSource,
        objects: ObjectStore,
        threads: Threads,
        tasks: Tasks,
        logs: GatewayLogs,
        push: Push[pa.RecordBatch],
    ) -> None:
        self._source = source
        self._objects = objects
        self._threads = threads
        self._logs = logs
        self._push = push
        self._shape = DataFrameShape(source.columns, TopicContract.from_text(source.contract))
        files = TableFiles(
            LocatedObjects(objects),
            threads,
            tasks,
            _NobodyCounts(),
            footer_bytes_max=FOOTER_BYTES_MAX,
            restorer=ContractRestorer(),
        )
        self._files = SpanRows(files, self._shape)
        self._appended = AppendedFiles(
            LocatedObjects(objects),
            threads,
            tasks,
            _NobodyCounts(),
            RowComposer(),
            cache_bytes_max=APPENDED_BYTES_MAX,
        )
        self._at = 0
        """Records of the range below this offset were pushed."""

    async def read(self, one: RangeToRead) -> None:
        self._at = one.start
        for left in reversed(range(REPLANS_MAX + 1)):
            try:
                await self._read(one)
                return
            except ObjectMissing as error:
                if not left:
                    raise PlacesMoved(f"{error}: its records move again and again. Run the query again") from error
                one = await self._planned_anew(one, error)

    async def _planned_anew(self, one: RangeToRead, missing: ObjectMissing) -> RangeToRead:
        try:
            found = await self._logs.spans(self._source.topic, one.number, self._at, one.end)
        except LakestreamError as error:
            raise PlacesMoved(
                f"{missing}: its records have moved since the query was planned, and the gateway could not be asked "
                f"where to ({error}). Run the query again"
            ) from error
        if found.log_start > self._at:
            raise PlacesMoved(
                f"offsets {self._at} to {found.log_start - 1} of partition {one.number} of topic "
                f"'{self._source.topic}' were deleted since the query was planned. Run the query again"
            ) from missing
        return one._replace(start=self._at, spans=found.spans, inline=found.inline, aborted=found.aborted)

    async def _read(self, one: RangeToRead) -> None:
        for in_table, together in groupby(one.spans, key=lambda span: isinstance(span, FileSpan)):
            own = list(together)
            if in_table:
                for span in own:
                    assert isinstance(span, FileSpan)
                    await self._read_files(one, span)
            else:
                await self._read_wal(one, [span for span in own if isinstance(span, Span)])

    async def _read_files(self, one: RangeToRead, span: FileSpan) -> None:
        if span.encoding is None:
            async for inner in self._files.read(span, self._at, one.end):
                await self._pass_on(one, inner)
        else:  # another engine wrote it
            async for records in self._appended.records(span, self._at, one.end):
                stretch = rows_stretch(records, partition=one.number, codec=Codec.NONE)
                await self._pass_on(one, await self._threads.run(self._shape.of_stretch, stretch))
        self._at = max(self._at, min(one.end, span.last_offset + 1))

    async def _read_wal(self, one: RangeToRead, spans: Sequence[Span]) -> None:
        wanted = [TaskSpan(one.number, max(self._at, span.base_offset), span) for span in spans]
        try:
            async with asyncio.TaskGroup() as group:
                blocks = Blocks(wanted, WithInline(self._objects, one.inline), group)
                for together in joinable(wanted):
                    piece = await blocks.piece(together)
                    for inner in await self._threads.run(self._decoded, piece, one):
                        await self._pass_on(one, inner)
        except BaseExceptionGroup as errors:
            raise _innermost(errors) from None

    def _decoded(self, piece: Piece, range: RangeToRead) -> list[pa.RecordBatch]:
        stretches = stretches_of(piece, AbortedBatches(range.aborted))
        return [self._shape.of_stretch(one) for one in stretches if one.rows.column("offset")[0].as_py() < range.end]

    async def _pass_on(self, one: RangeToRead, inner: pa.RecordBatch) -> None:
        """Push the rows within the range."""
        offsets = inner.column(OFFSET).to_numpy()
        first, end = offsets.searchsorted((self._at, one.end)).tolist()
        if first < end:
            rows = self._shape.finished(one.number, inner.slice(first, end - first))
            await self._push(rows)
            self._at = int(offsets[end - 1]) + 1


def _innermost(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
