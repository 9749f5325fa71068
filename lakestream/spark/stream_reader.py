"""The reader behind `spark.readStream.format("lakestream")`.

A stream's position is JSON, which Spark keeps in the checkpoint:

    {"id": "<topic id>", "offsets": {"0": 120, "1": 98}}      the next offset of each partition

Spark writes the end of a batch to the checkpoint before it plans the batch, and plans the same batch again after a
restart. The records between two positions never change, so every record is in exactly one batch.

Spark does not tell `latestOffset` where the stream is, so the reader of a bounded stream remembers it. Spark 4.1 asks a
new query for the latest offset first; when a query starts again, it asks for the partitions of its last batch first. If
that batch was committed, Spark never reads them. So records that were deleted since fail this batch only if it is read.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from lakestream.model.errors import InvalidRequest
from lakestream.spark.batch_reader import as_partitions, rows_of
from lakestream.spark.gateway_logs import GatewayLogs, LogOfTopic
from lakestream.spark.options import TO_THE_END, SourceOptions
from lakestream.spark.planning import PlannedTasks, ReadPlanner, RecordsDeleted
from lakestream.spark.shown_columns import ShownColumns
from lakestream.world.clock import SystemClock

Position = dict[str, Any]
"""As JSON: see above."""


class DeletedPartition(InputPartition):
    """Fails when it is read. Its value says why."""


class StreamReader(DataSourceStreamReader):
    def __init__(self, options: SourceOptions, columns: ShownColumns) -> None:
        if options.ending != TO_THE_END:
            raise InvalidRequest("a stream has no end: leave endingOffsets and endingTimestamp out")
        self._options = options
        self._columns = columns
        self._first: dict[int, int] | None = None
        """Where a new query begins, once that is known."""
        self._reached: dict[int, int] | None = None
        """The end of the last batch. None: this is a new query."""

    def initialOffset(self) -> Position:  # noqa: N802 - Spark's name
        return asyncio.run(self._initial())

    def latestOffset(self) -> Position:  # noqa: N802 - Spark's name
        return asyncio.run(self._latest())

    def partitions(self, start: Position, end: Position) -> Sequence[InputPartition]:
        starts_again = self._reached is None
        try:
            return as_partitions(asyncio.run(self._planned(start, end)))
        except RecordsDeleted as deleted:
            if not starts_again:
                raise
            return [DeletedPartition(str(deleted))]

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        if isinstance(partition, DeletedPartition):
            raise RecordsDeleted(partition.value)
        return rows_of(partition)

    async def _initial(self) -> Position:
        planner = self._planner()
        log = await planner.log()
        return _position(log, await self._beginning(planner, log))

    async def _latest(self) -> Position:
        planner = self._planner()
        log = await planner.log()
        ends = {number: extent.end for number, extent in log.extents.items()}
        reached = await self._beginning(planner, log) if self._reached is None else self._reached
        if self._options.batch_offsets_max is not None:
            ends = capped(_starts(log, reached), ends, self._options.batch_offsets_max)
        self._reached = ends
        return _position(log, ends)

    async def _beginning(self, planner: ReadPlanner, log: LogOfTopic) -> dict[int, int]:
        if self._first is None:
            starts = await planner.bound(log, self._options.starting)
            extents = log.extents
            self._first = {
                number: planner.readable(log, number, start, extents[number].end).start
                for number, start in starts.items()
            }
        return self._first

    async def _planned(self, start: Position, end: Position) -> PlannedTasks:
        planner = self._planner()
        log = await planner.log()
        starts, ends = _starts(log, _offsets(log, start)), _offsets(log, end)
        if any(end < starts.get(number, 0) for number, end in ends.items()):
            raise InvalidRequest(
                f"the stream would go back from {start} to {end}: leave maxOffsetsPerTrigger out with this Spark"
            )
        if self._reached is None:
            self._reached = ends
        ranges = {
            number: planner.readable(log, number, starts[number], ends[number])
            for number in log.extents
            if number in ends
        }
        return await planner.tasks(log, ranges, self._columns)

    def _planner(self) -> ReadPlanner:
        return ReadPlanner(self._options, GatewayLogs(self._options.gateway, SystemClock()))


def capped(starts: Mapping[int, int], ends: Mapping[int, int], offsets_max: int) -> dict[int, int]:
    """Ends that lie at most `offsets_max` offsets ahead of the starts, all partitions together. Each partition gets its
    share; what a short one leaves goes to the others."""
    left = offsets_max
    found: dict[int, int] = {}
    by_length = sorted(ends, key=lambda number: ends[number] - starts[number])
    for at, number in enumerate(by_length):
        others = len(by_length) - at
        share = min(max(0, ends[number] - starts[number]), -(-left // others))
        found[number] = starts[number] + share
        left -= share
    return dict(sorted(found.items()))


def _starts(log: LogOfTopic, reached: Mapping[int, int]) -> dict[int, int]:
    """Partitions that the topic got later are read from their beginning."""
    return {number: reached.get(number, extent.start) for number, extent in log.extents.items()}


def _position(log: LogOfTopic, offsets: Mapping[int, int]) -> Position:
    return {"id": log.id, "offsets": {str(number): offset for number, offset in sorted(offsets.items())}}


def _offsets(log: LogOfTopic, position: Position) -> dict[int, int]:
    if position["id"] != log.id:
        raise InvalidRequest(
            f"topic '{log.topic}' was deleted and made anew since the checkpoint was written: its offsets mean other "
            "records now. Start the query with a new checkpoint"
        )
    return {int(number): offset for number, offset in position["offsets"].items()}
