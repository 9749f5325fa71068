"""Plans a read on the driver: which offsets of which partitions, where they lie, and how they are cut into tasks.

gateway: extents -> bounds of the options -> ranges -> gateway: spans -> tasks of about `taskBytes`, in order
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.model.place import FileSpan, Span
from lakestream.spark.gateway_logs import Extent, GatewayLogs, LogOfTopic
from lakestream.spark.options import EARLIEST, LATEST, ReadBound, SourceOptions
from lakestream.spark.reading import RangeToRead, RowSource, read_rows
from lakestream.spark.shown_columns import ShownColumns, shown_columns
from lakestream.storage.tablefile.format.columns import OFFSET, TIMESTAMP

ASKS_AT_ONCE = 8

Ranges = Mapping[int, Extent]
"""By partition number."""


class RecordsDeleted(LakestreamError):
    """Retention or someone else deleted records that a query should have read."""


class PlannedTasks(NamedTuple):
    source: RowSource
    tasks: list[tuple[RangeToRead, ...]]


class ReadPlanner:
    def __init__(self, options: SourceOptions, logs: GatewayLogs) -> None:
        self.options = options
        self._logs = logs

    async def log(self) -> LogOfTopic:
        """The topic now, with the partitions that the options choose. Raises NotFound, InvalidRequest, Unavailable."""
        found = await self._logs.log(self.options.topic)
        chosen = self.options.partitions
        if chosen is None:
            return found
        missing = chosen - set(found.extents)
        if missing:
            raise InvalidRequest(f"topic '{found.topic}' has no partition {min(missing)}")
        return replace(found, extents={number: found.extents[number] for number in sorted(chosen)})

    async def bound(self, log: LogOfTopic, bound: ReadBound) -> dict[int, int]:
        """An offset for each partition."""
        unknown = set(bound.offsets) - set(log.extents)
        if unknown:
            raise InvalidRequest(f"offsets are given for partition {min(unknown)}, which is not read")
        if bound.timestamp_ms is not None:
            return {number: await self._at_time(log, number, bound.timestamp_ms) for number in log.extents}
        return {
            number: _offset(bound.offsets.get(number, bound.default), extent) for number, extent in log.extents.items()
        }

    async def ranges(self, log: LogOfTopic) -> Ranges:
        """What a batch query reads."""
        starts, ends = await self.bound(log, self.options.starting), await self.bound(log, self.options.ending)
        return {number: self.readable(log, number, starts[number], ends[number]) for number in log.extents}

    def readable(self, log: LogOfTopic, number: int, start: int, end: int) -> Extent:
        """[start, end) without what lies outside of the log. Raises RecordsDeleted, unless that is allowed."""
        extent = log.extents[number]
        end = min(end, extent.end)
        if start < extent.start and start < end and self.options.fails_on_loss:
            raise RecordsDeleted(
                f"offsets {start} to {min(end, extent.start) - 1} of partition {number} of topic '{log.topic}' were "
                'deleted. Set .option("failOnDataLoss", "false") to read on from the first record that is left'
            )
        start = max(start, extent.start)
        return Extent(start, max(start, end))

    async def tasks(self, log: LogOfTopic, ranges: Ranges, columns: ShownColumns) -> PlannedTasks:
        """Raises RecordsDeleted if records disappeared meanwhile."""
        places = asyncio.Semaphore(ASKS_AT_ONCE)

        async def spans_of(number: int, range: Extent) -> RangeToRead:
            async with places:
                found = await self._logs.spans(log.topic, number, range.start, range.end)
            now = Extent(found.log_start, max(found.log_start, range.end))
            left = self.readable(replace(log, extents={number: now}), number, range.start, range.end)
            return RangeToRead(number, left.start, left.end, found.spans, found.inline, found.aborted)

        wanted = [(number, range) for number, range in sorted(ranges.items()) if range.start < range.end]
        found = await asyncio.gather(*(spans_of(number, range) for number, range in wanted))
        return PlannedTasks(self.row_source(log, columns), cut_into_tasks(found, self.options.task_bytes))

    def row_source(self, log: LogOfTopic, columns: ShownColumns) -> RowSource:
        return RowSource(
            topic=log.topic,
            gateway=self.options.gateway,
            objects_url=self.options.objects_url or log.objects_url,
            objects_options=self.options.objects_options,
            contract=log.contract,
            columns=columns,
        )

    async def _at_time(self, log: LogOfTopic, number: int, timestamp_ms: int) -> int:
        """The first offset whose record has this time or a later one; the end if there is none."""
        span = await self._logs.span_at_time(log.topic, number, timestamp_ms)
        if span is None:
            return log.extents[number].end
        columns = shown_columns(TopicContract.from_text(log.contract), (OFFSET, TIMESTAMP))
        start, end = max(span.base_offset, log.extents[number].start), span.last_offset + 1
        found = await self._logs.spans(log.topic, number, start, end)
        whole = RangeToRead(number, start, end, found.spans, found.inline, found.aborted)
        source = self.row_source(log, columns)
        return await asyncio.to_thread(_first_at_time, source, whole, timestamp_ms)


def _first_at_time(source: RowSource, range: RangeToRead, timestamp_ms: int) -> int:
    for rows in read_rows(source, [range]):
        times = rows.column(TIMESTAMP).cast("int64").fill_null(-1).to_numpy()
        found = (times >= timestamp_ms * 1000).nonzero()[0]
        if len(found):
            return int(rows.column(OFFSET)[int(found[0])].as_py())
    return range.end


def _offset(wanted: int, extent: Extent) -> int:
    return {EARLIEST: extent.start, LATEST: extent.end}.get(wanted, wanted)


def cut_into_tasks(ranges: Sequence[RangeToRead], task_bytes: int) -> list[tuple[RangeToRead, ...]]:
    """Tasks of about `task_bytes`: small neighbours share one, large spans of table files are cut by offsets."""
    tasks: list[list[RangeToRead]] = []
    size = 0
    for piece in (piece for one in ranges for piece in _pieces(one, task_bytes)):
        length = sum(span.length for span in piece.spans)
        if not tasks or size + length > task_bytes:
            tasks.append([])
            size = 0
        tasks[-1].append(piece)
        size += length
    return [tuple(_joined(list(own)) for _, own in groupby(task, key=_number)) for task in tasks]


def _number(piece: RangeToRead) -> int:
    return piece.number


def _joined(pieces: Sequence[RangeToRead]) -> RangeToRead:
    """Consecutive pieces of one partition as one range."""
    return RangeToRead(
        number=pieces[0].number,
        start=pieces[0].start,
        end=pieces[-1].end,
        spans=tuple(span for piece in pieces for span in piece.spans),
        inline={span: data for piece in pieces for span, data in piece.inline.items()},
        aborted=pieces[0].aborted,
    )


def _pieces(one: RangeToRead, task_bytes: int) -> Iterator[RangeToRead]:
    """A piece for each span. The pieces cover the range without gaps."""
    at = one.start
    for span in one.spans:
        until = min(one.end, span.last_offset + 1)
        parts = -(-span.length // task_bytes) if isinstance(span, FileSpan) else 1
        inline = {span: one.inline[span]} if isinstance(span, Span) and span in one.inline else {}
        step = max(1, -(-(until - at) // parts))
        while at < until:
            yield RangeToRead(one.number, at, min(at + step, until), (span,), inline, one.aborted)
            at += step
        at = until
