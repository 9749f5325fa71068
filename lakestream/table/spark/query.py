"""SQL on Spark, through the catalog like any other Spark: for `lakestream sql --engine spark`."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from lakestream.model.errors import LakestreamError
from lakestream.model.table import STREAMS
from lakestream.table.spark.catalog import CATALOG
from lakestream.table.spark.lake_session import cause, first_line, lake_session, without_class
from lakestream.table.spark.remote_files import remote_files


class QueryFailed(LakestreamError):
    """Spark could not answer. Change the query as it says."""


@contextmanager
def ask_spark(
    uri: str,
    query: str,
    *,
    master: str,
    conf: Mapping[str, str],
    objects_url: str,
    objects_options: Mapping[str, str],
    headers: Mapping[str, str] | None = None,
) -> Iterator[pa.RecordBatchReader]:
    """The answer to `query`, with the catalog at `uri` as `lake` and the topics' tables at hand. The catalog is sent
    `headers`."""
    files = remote_files(objects_url, objects_options)
    with lake_session(uri, name="lakestream-sql", master=master, conf=conf, files=files, headers=headers) as session:
        try:
            session.sql(f"USE {CATALOG}.{'.'.join(STREAMS)}")
            answer: pa.Table = session.sql(query).toArrow()
        except PySparkException as error:
            raise QueryFailed(f"{first_line(error)}\n`SHOW TABLES` lists the tables") from None
        except Py4JError as error:  # Iceberg's own, unknown to Spark, with the catalog's message
            raise QueryFailed(without_class(cause(error))) from None
        yield answer.to_reader()
