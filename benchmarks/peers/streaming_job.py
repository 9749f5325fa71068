"""A Structured Streaming job from Kafka to Iceberg, in a process of its own.

    stdin   {"kind": "raw", "topic": ..., "table": ..., "checkpoint": ...}, a line for each run
    stdout  {"rows": ..., "wall_s": ...}

Stock Spark with Iceberg's runtime and Spark's Kafka source, one session for all runs, so that all but the first are
warm. Of the kind `raw` the columns are those of a raw topic's table; of the kind `json` they are the ten fields of the
values, read by `from_json`. A line {"kind": ..., "create": table} only makes a table.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, from_json

from benchmarks.peers import maven

SPARK_KAFKA = "4.1.3"
"""The newest that is on Maven Central; it fits Spark 4.1.4. Its token provider is there as a preview only."""
COORDINATES = [
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SPARK_KAFKA}",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
]
OWN_TO_SPARK = ["org.apache.spark", "org.scala-lang", "org.apache.hadoop", "org.slf4j"]
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
CATALOG = "lake"

CREATE = """CREATE TABLE {table} ({columns}) USING iceberg
TBLPROPERTIES ('format-version' = '2', 'write.distribution-mode' = 'none')"""
FIELDS = (
    "order_id BIGINT, customer_id BIGINT, sku STRING, quantity BIGINT, price DOUBLE, currency STRING, city STRING,"
    " paid BOOLEAN, ts BIGINT, note STRING"
)
COLUMNS = {
    "raw": "`partition` INT, `offset` BIGINT, `timestamp` TIMESTAMP, `key` BINARY,"
    " headers ARRAY<STRUCT<key: STRING, value: BINARY>>, value BINARY",
    "json": FIELDS,
}


def main(bootstrap: str, warehouse: str) -> None:
    session = open_session(warehouse)
    print(json.dumps({"ready": session.version}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(session, bootstrap, json.loads(line))), flush=True)
    session.stop()


def run(session: SparkSession, bootstrap: str, asked: dict[str, str]) -> dict[str, Any]:
    table = f"{CATALOG}.db.{asked.get('table') or asked['create']}"
    session.sql(CREATE.format(table=table, columns=COLUMNS[asked["kind"]]))
    if "create" in asked:
        return {"rows": 0, "wall_s": 0.0}
    started = time.perf_counter()
    records = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", bootstrap)
        .option("subscribe", asked["topic"])
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .option("kafka.max.partition.fetch.bytes", str(8 << 20))
        .option("kafka.fetch.max.bytes", str(64 << 20))
        .option("kafka.max.poll.records", "10000")
        .load()
    )
    query = (
        SELECT[asked["kind"]](records)
        .writeStream.format("iceberg")
        .outputMode("append")
        .option("checkpointLocation", asked["checkpoint"])
        .option("fanout-enabled", "true")
        .trigger(availableNow=True)
        .toTable(table)
    )
    query.awaitTermination()
    wall_s = time.perf_counter() - started
    return {"rows": session.table(table).count(), "wall_s": wall_s}


def _raw(records: DataFrame) -> DataFrame:
    return records.select("partition", "offset", "timestamp", "key", "headers", "value")


def _json(records: DataFrame) -> DataFrame:
    return records.select(from_json(col("value").cast("string"), FIELDS).alias("order")).select("order.*")


SELECT = {"raw": _raw, "json": _json}


def open_session(warehouse: str) -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.jars": ",".join(map(str, jars())),
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        f"spark.sql.catalog.{CATALOG}": "org.apache.iceberg.spark.SparkCatalog",
        f"spark.sql.catalog.{CATALOG}.type": "hadoop",
        f"spark.sql.catalog.{CATALOG}.warehouse": Path(warehouse).as_uri(),
    }
    builder: SparkSession.Builder = SparkSession.builder
    builder = builder.master(f"local[{os.cpu_count()}]").appName("structured-streaming")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def jars() -> list[Path]:
    kafka = maven.fetch(maven.CACHE / f"spark-kafka-{SPARK_KAFKA}", COORDINATES, without=OWN_TO_SPARK)
    iceberg = maven.fetch(maven.CACHE / "iceberg-spark-1.12.0", [ICEBERG])
    return sorted([*kafka.glob("*.jar"), *iceberg.glob("*.jar")])


if __name__ == "__main__":
    main(*sys.argv[1:])
