"""CREATE TABLE makes a topic: by stock Spark, DuckDB and PyIceberg, for a real Kafka client and all of them again."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from py4j.protocol import Py4JJavaError
from pyiceberg.exceptions import TableAlreadyExistsError
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType
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
    attach(spark, "made", lake.uri)
    return spark


def send(lake: RunningLake, topic: str, *values: bytes) -> None:
    producer = Producer({"bootstrap.servers": lake.kafka, "linger.ms": 0})
    for value in values:
        producer.produce(topic, value=value)
    assert producer.flush(PATIENCE_SECONDS) == 0


def records(lake: RunningLake, topic: str, count: int, partitions: int = 1) -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "reader", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    found: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while len(found) < count and time.monotonic() < deadline:
        for message in consumer.consume(count, 0.1):
            assert message.error() is None, message.error()
            found.append(message.value())
    consumer.close()
    return found


def config_of(lake: RunningLake, topic: str) -> dict[str, str]:
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    (answer,) = admin.describe_configs([ConfigResource(ConfigResource.Type.TOPIC, topic)]).values()
    return {name: entry.value for name, entry in answer.result(timeout=PATIENCE_SECONDS).items()}


def partitions_of(lake: RunningLake, topic: str) -> int:
    admin = AdminClient({"bootstrap.servers": lake.kafka})
    return len(admin.list_topics(topic, timeout=PATIENCE_SECONDS).topics[topic].partitions)


def text(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def test_a_table_made_by_spark_is_a_topic_of_its_columns(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql(
        "CREATE TABLE made.streams.orders (id BIGINT, sku STRING, paid BOOLEAN, price DOUBLE, n INT, "
        "address STRUCT<city: STRING, zip: BIGINT>, tags ARRAY<STRING>) "
        "TBLPROPERTIES ('lakestream.partitions'='3', 'retention.ms'='86400000', 'comment'='by spark')"
    )
    assert partitions_of(lake, "orders") == 3
    assert config_of(lake, "orders")["retention.ms"] == "86400000"
    order = {
        "id": 1,
        "sku": "a",
        "paid": True,
        "price": 1.5,
        "n": 7,
        "address": {"city": "Ulm", "zip": 89073},
        "tags": ["x", "y"],
    }
    values = [text(order), b'{"sku":"only this"}']
    send(lake, "orders", *values)
    assert sorted(records(lake, "orders", 2, partitions=3)) == sorted(values)
    lake.compact()
    assert sorted(records(lake, "orders", 2, partitions=3)) == sorted(values)
    found = sql.table("made.streams.orders").orderBy("id")
    assert found.columns == list(order)
    assert [row.asDict(recursive=True) for row in found.collect()] == [
        dict.fromkeys(order) | {"sku": "only this"},
        order,
    ]
    assert lake.command("verify", "orders").returncode == 0
    log = sql.sql("SELECT id, __offset FROM made.streams.orders__log WHERE id = 1").collect()
    assert [(row["id"], row["__offset"]) for row in log] == [(1, log[0]["__offset"])]


def test_values_that_do_not_fit_the_columns_are_set_aside_and_add_no_columns(lake: RunningLake) -> None:
    duckdb_on(lake.uri).execute("CREATE TABLE lake.streams.strict (id BIGINT, sku VARCHAR)")
    more = b'{"id":2,"sku":"b","more":true}'
    send(lake, "strict", b'{"id":1,"sku":"a"}', b'{"id":"one"}', more, b"no json")
    lake.compact()
    duck = duckdb_on(lake.uri)
    assert duck.execute("SELECT * FROM lake.streams.strict ORDER BY id").fetchall() == [(1, "a"), (2, "b")]
    assert [column[0] for column in duck.description or ()] == ["id", "sku"]
    aside = duck.execute("SELECT __offset FROM lake.streams.strict__quarantine ORDER BY 1").fetchall()
    assert aside == [(1,), (3,)]
    assert records(lake, "strict", 4)[2] == more


def test_a_table_of_pyiceberg_with_avro_registers_the_schema_that_serializers_use(lake: RunningLake) -> None:
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("at", pa.timestamp("us", "UTC")),
            ("day", pa.date32()),
            ("price", pa.decimal128(9, 2)),
            ("data", pa.binary()),
            ("tags", pa.map_(pa.string(), pa.int32())),
            ("points", pa.list_(pa.struct([("x", pa.float32()), ("y", pa.float32())]))),
        ]
    )
    catalog = pyiceberg_on(lake.uri)
    made = catalog.create_table("streams.events", schema, properties={"lakestream.value.format": "avro"})
    assert [field.name for field in made.schema().fields] == schema.names

    client = SchemaRegistryClient({"url": lake.registry})
    latest = client.get_latest_version("events-value").schema.schema_str
    assert latest is not None
    context = SerializationContext("events", MessageField.VALUE)
    rows: list[dict[str, Any]] = [
        {
            "id": 1,
            "at": None,
            "day": None,
            "price": None,
            "data": b"\x00\xff",
            "tags": {"a": 1, "b": None},
            "points": [{"x": 0.5, "y": None}, None],
        },
        dict.fromkeys(schema.names) | {"points": []},  # PyIceberg reads a null list of structs as an empty one
    ]
    serializer = AvroSerializer(client, latest, conf={"auto.register.schemas": False, "use.latest.version": True})
    send(lake, "events", *(serializer(row, context) for row in rows))
    lake.compact()
    found = catalog.load_table("streams.events").scan().to_arrow().to_pylist()
    assert [{**row, "tags": row["tags"] and dict(row["tags"])} for row in found] == rows
    read = AvroDeserializer(client)
    assert [read(value, context) for value in records(lake, "events", 2)] == rows
    assert lake.command("verify", "events").returncode == 0


def test_protobuf_registers_a_message_of_the_columns(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql(
        "CREATE TABLE made.streams.readings (sensor STRING, at TIMESTAMP, value DOUBLE, "
        "place STRUCT<x: INT, y: INT>, tags MAP<STRING, BIGINT>, raw ARRAY<BINARY>) "
        "TBLPROPERTIES ('lakestream.value.format'='protobuf')"
    )
    schema = SchemaRegistryClient({"url": lake.registry}).get_latest_version("readings-value").schema.schema_str
    assert schema is not None and "optional string sensor = 1;" in schema and "map<string, int64> tags = 5;" in schema
    # zero, schema id, the first message; then sensor = "s" and place = {x: 3}
    (id,) = (version.schema_id for version in [_latest(lake, "readings-value")])
    send(lake, "readings", b"\0" + id.to_bytes(4, "big") + b"\0" + b'\x0a\x01s"\x02\x08\x03')
    lake.compact()
    (row,) = sql.table("made.streams.readings").collect()
    assert (row["sensor"], row["place"].asDict(), row["at"]) == ("s", {"x": 3, "y": None}, None)
    assert lake.command("verify", "readings").returncode == 0


def _latest(lake: RunningLake, subject: str) -> Any:
    return SchemaRegistryClient({"url": lake.registry}).get_latest_version(subject)


def test_partitioning_and_order_are_the_tables_and_not_the_logs(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE TABLE made.streams.visits (site STRING, n BIGINT) PARTITIONED BY (site)")
    send(lake, "visits", *(text({"site": f"s{n % 3}", "n": n}) for n in range(9)))
    lake.compact()
    files = sql.sql("SELECT spec_id FROM made.streams.visits.files").collect()
    assert [row["spec_id"] for row in files] == [0]
    sql.sql("CALL made.system.rewrite_data_files(table => 'streams.visits', options => map('rewrite-all', 'true'))")
    parts = sql.sql("SELECT partition.site AS site, record_count FROM made.streams.visits.partitions").collect()
    assert sorted((row["site"], row["record_count"]) for row in parts) == [("s0", 3), ("s1", 3), ("s2", 3)]
    assert len(records(lake, "visits", 9)) == 9
    assert lake.command("verify", "visits").returncode == 0


def test_other_namespaces_stream_if_they_say_so(sql: SparkSession, lake: RunningLake) -> None:
    sql.sql("CREATE NAMESPACE made.live WITH DBPROPERTIES ('lakestream.streams'='true')")
    sql.sql("CREATE NAMESPACE made.plain")
    sql.sql("CREATE TABLE made.live.clicks (id BIGINT)")
    sql.sql("CREATE TABLE made.plain.notes (id BIGINT)")
    send(lake, "clicks", b'{"id":1}')
    lake.compact()
    assert [row["id"] for row in sql.table("made.live.clicks").collect()] == [1]
    topics = AdminClient({"bootstrap.servers": lake.kafka}).list_topics(timeout=PATIENCE_SECONDS).topics
    assert "clicks" in topics and "notes" not in topics


def test_dropping_a_table_deletes_its_topic_unless_it_was_made_undroppable(lake: RunningLake) -> None:
    catalog = pyiceberg_on(lake.uri)
    schema = Schema(NestedField(1, "id", LongType(), required=False))
    catalog.create_table("streams.brief", schema)
    catalog.create_table("streams.lasting", schema, properties={"lakestream.droppable": "false"})
    catalog.drop_table("streams.brief")
    with pytest.raises(Exception, match="lakestream topic delete"):
        catalog.drop_table("streams.lasting")
    topics = AdminClient({"bootstrap.servers": lake.kafka}).list_topics(timeout=PATIENCE_SECONDS).topics
    assert "brief" not in topics and "lasting" in topics
    catalog.create_table("streams.brief", Schema(NestedField(1, "name", StringType(), required=False)))
    send(lake, "brief", b'{"name":"again"}')
    lake.compact()
    assert catalog.load_table("streams.brief").scan().to_arrow().to_pylist() == [{"name": "again"}]


@pytest.mark.parametrize(
    ("columns", "properties", "reason"),
    [
        ("id BIGINT NOT NULL", "", "NOT NULL"),
        ("at TIMESTAMP", "", "'lakestream.value.format'='avro'"),
        ("price DECIMAL(9,2)", "'lakestream.value.format'='protobuf'", "Protobuf has no type"),
        ("tags MAP<INT, STRING>", "'lakestream.value.format'='avro'", "Avro map are strings"),
        ("__offset BIGINT", "", "do not begin with '__'"),
        ("id BIGINT", "'lakestream.partitions'='none'", "from 1 to"),
        ("id BIGINT", "'lakestream.value.format'='raw'", "json, avro, protobuf"),
        ("id BIGINT", "'lakestream.speed'='high'", "no property 'lakestream.speed'"),
        ("id BIGINT", "'retention.ms'='soon'", "retention.ms"),
        ("id BIGINT", "'format-version'='1'", "format version 2"),
    ],
)
def test_tables_that_cannot_be_topics_are_refused_with_the_reason(
    sql: SparkSession, lake: RunningLake, columns: str, properties: str, reason: str
) -> None:
    with pytest.raises(Py4JJavaError, match=reason):
        sql.sql(
            f"CREATE TABLE made.streams.refused ({columns})" + (f" TBLPROPERTIES ({properties})" if properties else "")
        )
    assert "refused" not in AdminClient({"bootstrap.servers": lake.kafka}).list_topics(timeout=60).topics


def test_a_name_that_is_taken_by_a_topic_or_cannot_be_one_is_refused(sql: SparkSession, lake: RunningLake) -> None:
    lake.create("taken", 1)
    with pytest.raises(TableAlreadyExistsError, match="topic 'taken' already"):
        pyiceberg_on(lake.uri).create_table("streams.taken", Schema(NestedField(1, "id", LongType(), required=False)))
    with pytest.raises(Py4JJavaError, match="lower-case letters"):
        sql.sql("CREATE TABLE made.streams.`two words` (id BIGINT)")
    with pytest.raises(Py4JJavaError, match="place of its own"):
        sql.sql(f"CREATE TABLE made.streams.placed (id BIGINT) USING iceberg LOCATION '{lake.objects.as_uri()}/x'")
