"""The reader behind `spark.read.format("lakestream")`."""

import asyncio
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from lakestream.spark.gateway_logs import GatewayLogs
from lakestream.spark.options import SourceOptions
from lakestream.spark.planning import PlannedTasks, ReadPlanner
from lakestream.spark.reading import RangeToRead, RowSource, read_rows
from lakestream.spark.shown_columns import ShownColumns
from lakestream.world.clock import SystemClock


class TaskPartition(InputPartition):
    """One task of Spark: everything that an executor needs, besides the object store."""

    def __init__(self, source: RowSource, ranges: tuple[RangeToRead, ...]) -> None:
        super().__init__(None)
        self.source = source
        self.ranges = ranges


class BatchReader(DataSourceReader):
    """Does not implement `pushFilters`: the state that a filter leaves in a reader leaks into other scans of the same
    DataFrame, whose counts are then silently wrong. Options choose offsets, partitions and columns instead."""

    def __init__(self, options: SourceOptions, columns: ShownColumns) -> None:
        self._options = options
        self._columns = columns

    def partitions(self) -> Sequence[InputPartition]:
        return as_partitions(asyncio.run(self._planned()))

    def read(self, partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
        return rows_of(partition)

    async def _planned(self) -> PlannedTasks:
        planner = ReadPlanner(self._options, GatewayLogs(self._options.gateway, SystemClock()))
        log = await planner.log()
        return await planner.tasks(log, await planner.ranges(log), self._columns)


def as_partitions(planned: PlannedTasks) -> list[InputPartition]:
    return [TaskPartition(planned.source, ranges) for ranges in planned.tasks]


def rows_of(partition: InputPartition | None) -> Iterator[pa.RecordBatch]:
    """Spark calls it with None if there is nothing to read."""
    if not isinstance(partition, TaskPartition):
        return iter(())
    return read_rows(partition.source, partition.ranges)
