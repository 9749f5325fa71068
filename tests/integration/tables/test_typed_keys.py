"""Keys with a format, from real serializers to every engine, and back to Kafka as they were."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, StringSerializer
from pyiceberg.catalog.rest import RestCatalog
from pyspark.sql import SparkSession

from tests.integration.tables.lake import RunningLake, running_lake
from tests.spark_session import attach

COUNT = 60
BAD = b"\xff no key of ours"
BAD_AT = 7
ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
CUSTOMER: dict[str, Any] = {
    "type": "record",
    "name": "Customer",
    "fields": [{"name": "id", "type": "int"}, {"name": "country", "type": ["null", "string"]}],
}
LATER = CUSTOMER | {"fields": [{"name": "id", "type": "long"}, *CUSTOMER["fields"][1:]]}

Pair = tuple[bytes | None, bytes | None]

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLake]:
    with running_lake(Path(tmp_path_factory.mktemp("keys"))) as running:
        yield running


def produce(lake: RunningLake, topic: str, pairs: list[Pair]) -> None:
    producer = Producer({"bootstrap.servers": lake.kafka, "linger.ms": 5})
    for key, value in pairs:
        producer.produce(topic, key=key, value=value, partition=0)
    assert producer.flush(60) == 0


def consumed(lake: RunningLake, topic: str, count: int) -> list[Pair]:
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "keys", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[Pair] = []
    while len(found) < count:
        messages = consumer.consume(count - len(found), timeout=10)
        assert messages, f"{len(found)} of {count}"
        found += [(message.key(), message.value()) for message in messages]
    consumer.close()
    return found


def assert_verified(lake: RunningLake, topic: str, records: int) -> None:
    done = lake.command("verify", topic, "--json")
    assert done.returncode == 0, done.stdout
    verdict = json.loads(done.stdout.splitlines()[-1])["topics"][0]
    assert (verdict["records"], verdict["rows"], verdict["problems"]) == (records, records, [])


def test_avro_keys_through_two_versions_beside_avro_values(lake: RunningLake, spark: SparkSession) -> None:
    topic = "bought"
    lake.create(topic, 1, {"lakestream.value.format": "avro", "lakestream.key.format": "avro"})
    client = SchemaRegistryClient({"url": lake.registry})
    value_of, value_context = AvroSerializer(client, ORDER), SerializationContext(topic, MessageField.VALUE)
    pairs: list[Pair] = []
    expected: list[dict[str, Any] | None] = []
    for schema in (CUSTOMER, LATER):
        key_of, key_context = AvroSerializer(client, json.dumps(schema)), SerializationContext(topic, MessageField.KEY)
        customers = [{"id": at, "country": None if at % 2 else f"é{at}"} for at in range(COUNT)]
        keys = [key_of(one, key_context) for one in customers]
        keys[BAD_AT] = BAD
        batch = [(key, value_of({"id": at}, value_context)) for at, key in enumerate(keys)]
        produce(lake, topic, batch)
        lake.compact()
        pairs += batch
        expected += [None if at == BAD_AT else one for at, one in enumerate(customers)]
    attach(spark, "keys", lake.uri)
    rows = spark.sql(f"SELECT key, __key FROM keys.streams.{topic} ORDER BY __offset").collect()
    assert [row[0] and row[0].asDict() for row in rows] == expected
    assert [bytes(row[1]) for row in rows] == [key for key, _ in pairs]
    assert lake.json("sql", f"SELECT key.id AS id, key.country AS c FROM {topic} ORDER BY __offset") == [
        {"id": one and one["id"], "c": one and one["country"]} for one in expected
    ]
    table = RestCatalog("lake", uri=lake.uri).load_table(("streams", topic))
    assert table.scan().to_arrow().sort_by("__offset").column("key").to_pylist() == expected
    assert consumed(lake, topic, len(pairs)) == pairs
    assert_verified(lake, topic, len(pairs))


def test_text_keys_beside_json_values_and_tombstones(lake: RunningLake, spark: SparkSession) -> None:
    topic = "named"
    lake.create(topic, 1, {"lakestream.key.format": "string"})
    serializer, context = StringSerializer(), SerializationContext(topic, MessageField.KEY)
    names = [f"naïve {at}" for at in range(COUNT)]
    values = [None if at % 10 == 9 else json.dumps({"n": at, "key": at * 2}).encode() for at in range(COUNT)]
    pairs: list[Pair] = [(serializer(name, context), value) for name, value in zip(names, values, strict=True)]
    produce(lake, topic, pairs)
    lake.compact()
    expected = [{"key": names[at], "n": at, "key_2": at * 2} for at in range(COUNT) if at % 10 != 9]
    attach(spark, "keys", lake.uri)
    columns = "key, n, key_2"
    by_spark = spark.sql(f"SELECT {columns} FROM keys.streams.{topic} ORDER BY n").collect()
    assert [row.asDict() for row in by_spark] == expected
    assert lake.json("sql", f"SELECT {columns} FROM {topic} ORDER BY n") == expected
    table = RestCatalog("lake", uri=lake.uri).load_table(("streams", topic))
    found = table.scan(row_filter="key = 'naïve 3'", selected_fields=("key", "n", "key_2")).to_arrow().to_pylist()
    assert found == [expected[3]]
    log = spark.sql(f"SELECT key FROM keys.streams.{topic}__log ORDER BY __offset").collect()
    assert [row[0] for row in log] == names
    assert consumed(lake, topic, len(pairs)) == pairs


def test_json_keys_that_are_single_values(lake: RunningLake) -> None:
    plain, framed = "counted", "called"
    json_keys = {"lakestream.value.format": "raw", "lakestream.key.format": "json"}
    lake.create(plain, 1, json_keys)
    lake.create(framed, 1, json_keys | {"lakestream.key.schema": "id"})
    serializer = JSONSerializer('{"title": "name", "type": "string"}', SchemaRegistryClient({"url": lake.registry}))
    context = SerializationContext(framed, MessageField.KEY)
    pairs: dict[str, list[Pair]] = {
        plain: [(b"%d" % at if at != BAD_AT else BAD, b"v") for at in range(COUNT)],
        framed: [(serializer(f"name {at}", context), b"v") for at in range(COUNT)],
    }
    for topic, own in pairs.items():
        produce(lake, topic, own)
    lake.compact()
    found = lake.json("sql", f"SELECT key FROM {plain} ORDER BY __offset")
    assert [row["key"] for row in found] == [None if at == BAD_AT else at for at in range(COUNT)]
    found = lake.json("sql", f"SELECT key FROM {framed} ORDER BY __offset")
    assert [row["key"] for row in found] == [f"name {at}" for at in range(COUNT)]
    for topic, own in pairs.items():
        assert consumed(lake, topic, COUNT) == own
