"""Three engines ask a table while a client produces to its topic; in the end they, consumers and `verify` agree, and
what was produced lies in the bucket once."""

import asyncio
from pathlib import Path

from pyspark.sql import SparkSession

from lakestream.storage.garbage.sweep import delete_dead_segments
from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import running_lake
from tests.integration.tables.live import LiveProducer, consumed
from tests.integration.tables.stranger import check_verify
from tests.spark_session import attach

PARTITIONS = 2
LOOKS = 5


def test_engines_ask_while_a_client_produces_and_in_the_end_all_agree(tmp_path: Path, spark: SparkSession) -> None:
    with running_lake(tmp_path) as lake, duckdb_on(lake.uri) as duckdb:
        lake.create("orders", PARTITIONS)
        lake.round()
        attach(spark, "growing", lake.uri)
        pyiceberg = pyiceberg_on(lake.uri)

        def counts() -> list[int]:
            by_duckdb = duckdb.sql("SELECT count(*) FROM lake.streams.orders").fetchall()[0][0]
            by_spark = spark.sql("SELECT count(*) FROM growing.streams.orders").collect()[0][0]
            return [by_duckdb, by_spark, pyiceberg.load_table("streams.orders").scan().count()]

        with LiveProducer(lake.kafka, "orders", partitions=PARTITIONS) as producer:
            seen = [0]
            for _ in range(LOOKS):
                producer.wait_for(50)
                lake.round()
                seen += counts()
            assert seen == sorted(seen), "each sees at least what the one before it saw"
            assert 0 < seen[1] < seen[-1]
        lake.compact()
        produced = producer.records()
        assert counts() == [len(produced)] * 3
        assert consumed(lake.kafka, "orders", partitions=PARTITIONS, count=len(produced)) == produced
        check_verify(lake, "orders")

        lake.run(asyncio.sleep(0.01))
        lake.run(delete_dead_segments(lake.store, lake.object_store, 0))

        assert [file for file in (lake.objects / "wal").rglob("*") if file.is_file()] == []
        [topic] = lake.json("status")["topics"]
        assert (topic["table"]["bytes_over_one_copy"], topic["table"]["copies"]) == (0, 1.0)
        data = [file.stat().st_size for file in lake.objects.rglob("*.parquet")]
        assert (len(data), sum(data)) == (topic["table"]["files"], topic["table"]["bytes"])
        assert consumed(lake.kafka, "orders", partitions=PARTITIONS, count=len(produced)) == produced
