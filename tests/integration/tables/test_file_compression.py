"""A table says how its files are compressed, in Iceberg's own words, and the pipeline writes them so."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import running_lake
from tests.integration.tables.live import consumed
from tests.integration.tables.stranger import Stranger, check_verify

PER_STEP = 300
SETTING = "ALTER TABLE {{t}} SET TBLPROPERTIES ('write.parquet.compression-codec' = '{codec}')"


def codecs_of(objects: Path) -> set[str]:
    """With which the values of all table files under a folder are compressed."""
    files = [pq.ParquetFile(path).metadata.row_group(0) for path in objects.rglob("*.parquet")]
    columns = [group.column(at) for group in files for at in range(group.num_columns)]
    return {column.compression for column in columns if column.path_in_schema == "__value"}


def test_files_are_compressed_as_their_table_says_and_every_reader_reads_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    values = [b"a value that is worth to be compressed, number %d" % at for at in range(PER_STEP)]
    with running_lake(tmp_path) as lake:
        stranger = Stranger(spark, lake, "orders")
        lake.produce("orders", values)
        lake.compact()
        assert codecs_of(tmp_path) == {"ZSTD"}
        for codec in ("lz4", "uncompressed"):
            stranger.sql(SETTING.format(codec=codec))
            lake.produce("orders", values)
            lake.compact()
        assert codecs_of(tmp_path) == {"ZSTD", "LZ4", "UNCOMPRESSED"}

        total = 3 * PER_STEP
        by_spark = stranger.sql("SELECT count(DISTINCT __value) AS n, count(*) AS total FROM {t}")[0]
        by_pyiceberg = pyiceberg_on(lake.uri).load_table("streams.orders").scan().to_arrow()
        with duckdb_on(lake.uri) as duckdb:
            by_duckdb = duckdb.execute("SELECT count(DISTINCT __value), count(*) FROM lake.streams.orders").fetchone()
        assert (by_spark.n, by_spark.total) == by_duckdb == (PER_STEP, total)
        assert set(by_pyiceberg.column("__value").to_pylist()) == set(values)
        replayed = consumed(lake.kafka, "orders", partitions=1, count=total)
        assert [record.value for record in replayed] == values * 3
        check_verify(lake, "orders")
        with pytest.raises(Py4JJavaError, match="choose one of these"):
            stranger.sql(SETTING.format(codec="lzo"))
