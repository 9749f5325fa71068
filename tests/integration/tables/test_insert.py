"""INSERT is produce: rows that stock Spark, DuckDB and PyIceberg append are records for a real Kafka consumer."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer
from confluent_kafka.serialization import MessageField, SerializationContext
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from tests.integration.catalog.engines import duckdb_on, pyiceberg_on
from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import attach

PATIENCE_SECONDS = 60


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(tmp_path_factory.mktemp("lake")) as running:
        yield running


@pytest.fixture(scope="module")
def sql(spark: SparkSession, lake: RunningLake) -> SparkSession:
    attach(spark, "sqlfirst", lake.uri)
    return spark


def messages(lake: RunningLake, topic: str, count: int, partitions: int = 1, start: int = 0) -> list[Message]:
    consumer = Consumer(
        {"bootstrap.servers": lake.kafka, "group.id": "reader", "enable.auto.commit": False, "check.crcs": True}
    )
    consumer.assign([TopicPartition(topic, partition, start) for partition in range(partitions)])
    found: list[Message] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < count and time.monotonic() < deadline:
        for message in consumer.consume(count, 0.1):
            assert message.error() is None, message.error()
            found.append(message)
    consumer.close()
    return sorted(found, key=lambda one: (one.partition(), one.offset()))


def values(lake: RunningLake, topic: str, count: int, partitions: int = 1) -> list[Any]:
    return [json.loads(one.value()) for one in messages(lake, topic, count, partitions)]


def data_bytes(lake: RunningLake) -> set[str]:
    return {str(path) for path in lake.objects.rglob("*.parquet")}


def test_rows_that_three_engines_insert_are_records_and_no_data_file_is_written_besides(
    sql: SparkSession, lake: RunningLake
) -> None:
    sql.sql(
        "CREATE TABLE sqlfirst.streams.sales (id BIGINT, sku STRING, price DOUBLE, paid BOOLEAN, "
        "address STRUCT<city: STRING, zip: BIGINT>, tags ARRAY<STRING>) TBLPROPERTIES ('lakestream.key'='sku')"
    )
    sql.sql(
        "INSERT INTO sqlfirst.streams.sales VALUES "
        "(1, 'a', 1.5, true, named_struct('city', 'Ulm \"x\"', 'zip', 89073L), array('x', NULL)), "
        "(2, NULL, NULL, NULL, NULL, NULL)"
    )
    duck = duckdb_on(lake.uri)
    duck.execute("INSERT INTO lake.streams.sales VALUES (3, 'line\nbreak', 2.0, false, {'city': NULL, 'zip': 1}, [])")
    table = pyiceberg_on(lake.uri).load_table("streams.sales")
    rows = pa.Table.from_pylist(
        [{"id": 4, "sku": "ü", "price": 1e300, "paid": None, "address": None, "tags": ["y"]}],
        schema=table.schema().as_arrow(),
    )
    table.append(rows)
    expected = [
        {
            "id": 1,
            "sku": "a",
            "price": 1.5,
            "paid": True,
            "address": {"city": 'Ulm "x"', "zip": 89073},
            "tags": ["x", None],
        },
        {"id": 2, "sku": None, "price": None, "paid": None, "address": None, "tags": None},
        {"id": 3, "sku": "line\nbreak", "price": 2.0, "paid": False, "address": {"city": None, "zip": 1}, "tags": []},
        {"id": 4, "sku": "ü", "price": 1e300, "paid": None, "address": None, "tags": ["y"]},
    ]
    found = messages(lake, "sales", 4)
    assert [json.loads(one.value()) for one in found] == expected
    assert [one.key() for one in found] == [b"a", None, b"line\nbreak", "ü".encode()]
    assert [one.offset() for one in found] == [0, 1, 2, 3]
    assert all(one.timestamp()[1] > 0 and not one.headers() for one in found)
    written = data_bytes(lake)
    lake.compact()
    lake.upkeep()
    assert data_bytes(lake) == written
    assert sql.table("sqlfirst.streams.sales").count() == 4
    assert sql.table("sqlfirst.streams.sales__log").count() == 4


def test_kafka_and_sql_write_to_one_topic_in_any_order(sql: SparkSession, lake: RunningLake) -> None:
    duck = duckdb_on(lake.uri)
    duck.execute("CREATE TABLE lake.streams.mixed (n BIGINT)")
    lake.produce("mixed", [b'{"n":0}', b'{"n":1}'])
    duck.execute("INSERT INTO lake.streams.mixed VALUES (2), (3)")
    lake.produce("mixed", [b'{"n":4}'])
    duck.execute("INSERT INTO lake.streams.mixed VALUES (5)")
    assert [one["n"] for one in values(lake, "mixed", 6)] == list(range(6))
    lake.compact()
    assert [one["n"] for one in values(lake, "mixed", 6)] == list(range(6))
    assert sorted(row[0] for row in duckdb_on(lake.uri).execute("FROM lake.streams.mixed").fetchall()) == list(range(6))
    sql.sql("DELETE FROM sqlfirst.streams.mixed WHERE n = 3")
    sql.sql("INSERT INTO sqlfirst.streams.mixed VALUES (6), (7)")
    lake.produce("mixed", [b'{"n":8}'])
    lake.compact()
    assert [one["n"] for one in values(lake, "mixed", 9)] == list(range(9))
    assert sorted(row["n"] for row in sql.table("sqlfirst.streams.mixed").collect()) == [0, 1, 2, 4, 5, 6, 7, 8]
    assert sql.table("sqlfirst.streams.mixed__log").count() == 9
    assert lake.command("verify", "mixed").returncode == 0


def test_inserted_rows_are_avro_for_a_deserializer(lake: RunningLake, sql: SparkSession) -> None:
    sql.sql(
        "CREATE TABLE sqlfirst.streams.events (id BIGINT, at TIMESTAMP, day DATE, price DECIMAL(9,2), data BINARY, "
        "counts MAP<STRING, INT>, points ARRAY<STRUCT<x: FLOAT, y: FLOAT>>) "
        "TBLPROPERTIES ('lakestream.value.format'='avro', 'lakestream.key'='id')"
    )
    sql.sql(
        "INSERT INTO sqlfirst.streams.events VALUES (7, TIMESTAMP '2026-01-02 03:04:05', DATE '2026-01-02', 1.25, "
        "X'00FF', map('a', 1), array(named_struct('x', 0.5f, 'y', 1.5f))), (8, NULL, NULL, NULL, NULL, NULL, NULL)"
    )
    read = AvroDeserializer(SchemaRegistryClient({"url": lake.registry}))
    context = SerializationContext("events", MessageField.VALUE)
    found = messages(lake, "events", 2)
    first, second = (read(one.value(), context) for one in found)
    assert [one.key() for one in found] == [b"7", b"8"]
    assert (first["id"], first["at"].isoformat(), str(first["day"])) == (7, "2026-01-02T03:04:05+00:00", "2026-01-02")
    assert (str(first["price"]), first["data"], first["counts"]) == ("1.25", b"\x00\xff", {"a": 1})
    assert first["points"] == [{"x": 0.5, "y": 1.5}]
    assert [name for name, value in second.items() if value is not None] == ["id"]


def test_a_table_that_is_created_as_a_query_begins_with_its_rows_as_records(
    sql: SparkSession, lake: RunningLake
) -> None:
    sql.sql(
        "CREATE TABLE sqlfirst.streams.chosen PARTITIONED BY (word) TBLPROPERTIES ('lakestream.partitions'='2') AS "
        "SELECT id AS n, if(id % 2 = 0, 'even', 'odd') AS word FROM range(10)"
    )
    assert sorted(one["n"] for one in values(lake, "chosen", 10, partitions=2)) == list(range(10))
    lake.produce("chosen", [b'{"n":10,"word":"ten"}'])
    sql.sql("INSERT INTO sqlfirst.streams.chosen VALUES (11, 'odd')")
    lake.compact()
    assert sorted(one["n"] for one in values(lake, "chosen", 12, partitions=2)) == list(range(12))
    assert sorted(row["n"] for row in sql.table("sqlfirst.streams.chosen").collect()) == list(range(12))
    assert lake.command("verify", "chosen").returncode == 0
    with pytest.raises(Py4JJavaError, match="avro"):
        sql.sql("CREATE TABLE sqlfirst.streams.unfit AS SELECT current_timestamp() AS at")


def test_many_rows_go_to_the_partitions_whole_file_by_file(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE sqlfirst.streams.big (n BIGINT, word STRING) TBLPROPERTIES ('lakestream.partitions'='2')")
    sql.range(0, 100_000, 1, 2).selectExpr("id AS n", "concat('word-', id) AS word").writeTo(
        "sqlfirst.streams.big"
    ).append()
    found = messages(lake, "big", 100_000, partitions=2)
    assert sorted(json.loads(one.value())["n"] for one in found) == list(range(100_000))
    assert {one.partition() for one in found} == {0, 1}
    (late,) = messages(lake, "big", 1, start=49_999)[:1]
    assert late.offset() == 49_999
    sql.range(5).selectExpr("id AS n", "'w' AS word").coalesce(1).writeTo("sqlfirst.streams.big").option(
        "snapshot-property.lakestream.partition", "1"
    ).append()
    assert len(messages(lake, "big", 100_005, partitions=2)) == 100_005


def test_appends_that_cannot_be_records_are_refused_with_the_reason(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE sqlfirst.streams.fussy (n BIGINT)")
    with pytest.raises(Py4JJavaError, match="no partition 7"):
        sql.range(2).selectExpr("id AS n").writeTo("sqlfirst.streams.fussy").option(
            "snapshot-property.lakestream.partition", "7"
        ).append()
    sql.sql("ALTER TABLE sqlfirst.streams.fussy CREATE BRANCH side")
    with pytest.raises(Py4JJavaError, match="branch 'main'"):
        sql.sql("INSERT INTO sqlfirst.streams.fussy.branch_side VALUES (1)")
    lake.create("plain", 1)
    lake.produce("plain", [b"x"])
    lake.compact()
    with pytest.raises(Py4JJavaError, match="not made by CREATE TABLE"):
        sql.sql("INSERT INTO sqlfirst.streams.plain (__value) VALUES (X'00')")
    assert values(lake, "fussy", 0) == []
