"""The data source `lakestream`, for `spark.read` and `spark.readStream`.

    driver     schema: the gateway tells the contract -> columns     partitions: the gateway tells the places -> tasks
    executor   read: object store -> Arrow batches                   no broker, no gateway, no database

Spark pickles the source after it has asked for the schema, so the columns that `schema` found travel with it.
"""

import asyncio
from collections.abc import Sequence

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from lakestream.contract.topic.topic_contract import TopicContract
from lakestream.model.errors import InvalidRequest
from lakestream.spark.batch_reader import BatchReader
from lakestream.spark.gateway_logs import GatewayLogs
from lakestream.spark.options import SourceOptions, source_options
from lakestream.spark.planning import ReadPlanner
from lakestream.spark.shown_columns import ShownColumns, shown_columns
from lakestream.spark.stream_reader import StreamReader
from lakestream.world.clock import SystemClock

FORMAT = "lakestream"


def register(spark: SparkSession) -> None:
    """Make the format `lakestream` known to the session."""
    spark.dataSource.register(TopicDataSource)


class TopicDataSource(DataSource):
    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self._options = source_options(options)
        self._columns: ShownColumns | None = None

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> StructType:
        self._columns = asyncio.run(_columns_of(self._options, self._options.columns))
        return _spark_schema(self._columns)

    def reader(self, schema: StructType) -> BatchReader:
        return BatchReader(self._options, self._shown(schema))

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802 - Spark's name
        return StreamReader(self._options, self._shown(schema))

    def _shown(self, schema: StructType) -> ShownColumns:
        if self._columns is None:  # the user gave a schema
            self._columns = asyncio.run(_columns_of(self._options, schema.fieldNames()))
            if [field.dataType for field in _spark_schema(self._columns)] != [field.dataType for field in schema]:
                raise InvalidRequest("the topic's columns have other types than the schema: leave .schema() out")
        return self._columns


async def _columns_of(options: SourceOptions, chosen: Sequence[str] | None) -> ShownColumns:
    log = await ReadPlanner(options, GatewayLogs(options.gateway, SystemClock())).log()
    return shown_columns(TopicContract.from_text(log.contract), chosen)


def _spark_schema(columns: ShownColumns) -> StructType:
    return StructType(
        [StructField(field.name, from_arrow_type(field.type, prefer_timestamp_ntz=True)) for field in columns.schema]
    )
