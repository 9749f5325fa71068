"""Serializers of confluent-kafka, unchanged, against a running `lakestream up`: what goes in comes out."""

import json
from decimal import Decimal

import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.integration.registry.messages import order_class
from tests.integration.up_process import Up

ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "string"},
        {"name": "total", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
    ],
}


@pytest.fixture
def registry(up: Up) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": f"http://{up.http}/registry"})


def through_kafka(up: Up, topic: str, values: list[bytes]) -> list[bytes]:
    """Produced, then consumed from the start."""
    producer = Producer({"bootstrap.servers": up.kafka})
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": up.kafka, "group.id": "none", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[bytes] = []
    for _ in range(200):
        found += [message.value() for message in consumer.consume(100, 0.2) if message.error() is None]
        if len(found) >= len(values):
            break
    consumer.close()
    return found


def context(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_avro(up: Up, registry: SchemaRegistryClient) -> None:
    serialize = AvroSerializer(registry, json.dumps(ORDER))
    orders = [{"id": f"o{n}", "total": Decimal(n) / 100} for n in range(50)]
    bytes_in = [serialize(order, context("avro")) for order in orders]
    assert {value[:5] for value in bytes_in} == {
        b"\0" + registry.get_latest_version("avro-value").schema_id.to_bytes(4, "big")
    }
    deserialize = AvroDeserializer(SchemaRegistryClient({"url": f"http://{up.http}/registry"}))
    assert [deserialize(value, context("avro")) for value in through_kafka(up, "avro", bytes_in)] == orders


def test_avro_with_references_and_a_new_version(up: Up, registry: SchemaRegistryClient) -> None:
    line = {"type": "record", "name": "Line", "namespace": "shop", "fields": [{"name": "n", "type": "int"}]}
    registry.register_schema("shop.Line", Schema(json.dumps(line), "AVRO"))
    cart = {
        "type": "record",
        "name": "Cart",
        "fields": [{"name": "lines", "type": {"type": "array", "items": "shop.Line"}}],
    }
    reference = SchemaReference("shop.Line", "shop.Line", 1)
    first = AvroSerializer(registry, Schema(json.dumps(cart), "AVRO", [reference]))
    cart["fields"].append({"name": "note", "type": "string", "default": ""})  # type: ignore[attr-defined]
    second = AvroSerializer(registry, Schema(json.dumps(cart), "AVRO", [reference]))
    values = [
        first({"lines": [{"n": 1}]}, context("cart")),
        second({"lines": [], "note": "gift"}, context("cart")),
    ]
    reader = AvroDeserializer(registry, Schema(json.dumps(cart), "AVRO", [reference]))
    assert [reader(value, context("cart")) for value in through_kafka(up, "cart", values)] == [
        {"lines": [{"n": 1}], "note": ""},
        {"lines": [], "note": "gift"},
    ]


def test_json(up: Up, registry: SchemaRegistryClient) -> None:
    address = {
        "$id": "address.json",
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    }
    registry.register_schema("address", Schema(json.dumps(address), "JSON"))
    person = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Person",
        "type": "object",
        "properties": {"name": {"type": "string"}, "home": {"$ref": "address.json"}},
        "additionalProperties": False,
    }
    schema = Schema(json.dumps(person), "JSON", [SchemaReference("address.json", "address", 1)])
    serialize = JSONSerializer(schema, registry)
    people = [{"name": "Åsa", "home": {"city": "Umeå"}}, {"name": "東"}]
    values = through_kafka(up, "json", [serialize(one, context("json")) for one in people])
    deserialize = JSONDeserializer(
        None, schema_registry_client=SchemaRegistryClient({"url": f"http://{up.http}/registry"})
    )
    assert [deserialize(value, context("json")) for value in values] == people


@pytest.mark.parametrize("normalize", [False, True])
def test_protobuf_with_imports_and_a_new_version(up: Up, registry: SchemaRegistryClient, normalize: bool) -> None:
    topic = f"proto-{normalize}".lower()
    old, new = order_class(), order_class(with_note=True)
    values, written = [], []
    for kind, more in ((old, {}), (new, {"note": "gift"})):
        serialize = ProtobufSerializer(kind, registry, {"normalize.schemas": normalize})
        message = kind(id="o1", total={"cents": -5}, tags=["a", "b"], **more)
        message.at.FromSeconds(1_700_000_000)
        written.append(message)
        values.append(serialize(message, context(topic)))
    found = through_kafka(up, topic, values)
    fresh = SchemaRegistryClient({"url": f"http://{up.http}/registry"})
    read_old = ProtobufDeserializer(old, {}, fresh)
    read_new = ProtobufDeserializer(new, {}, fresh)
    assert read_new(found[1], context(topic)) == written[1]
    assert [read_old(value, context(topic)).tags for value in found] == [["a", "b"]] * 2
    assert registry.get_versions(f"{topic}-value") == [1, 2]
    assert registry.get_latest_version("common/money.proto").schema.schema_type == "PROTOBUF"
    references = registry.get_latest_version(f"{topic}-value").schema.references
    assert [(one.name, one.subject, one.version) for one in references] == [
        ("common/money.proto", "common/money.proto", 1)
    ]


def test_protobuf_with_the_latest_version_and_no_registration(up: Up, registry: SchemaRegistryClient) -> None:
    kind = order_class()
    ProtobufSerializer(kind, registry)(kind(id="x"), context("latest"))
    settled = {"auto.register.schemas": False, "use.latest.version": True}
    fresh = SchemaRegistryClient({"url": f"http://{up.http}/registry"})
    value = ProtobufSerializer(kind, fresh, settled)(kind(id="y"), context("latest"))
    assert ProtobufDeserializer(kind, {}, fresh)(value, context("latest")).id == "y"


def test_a_breaking_schema_stops_the_serializer(registry: SchemaRegistryClient) -> None:
    AvroSerializer(registry, json.dumps(ORDER))({"id": "a", "total": Decimal(1)}, context("strict"))
    required = {**ORDER, "fields": [*ORDER["fields"], {"name": "more", "type": "int"}]}  # type: ignore[misc]
    with pytest.raises(SchemaRegistryError) as refused:
        registry.register_schema("strict-value", Schema(json.dumps(required), "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 409)
    assert "field 'more'" in refused.value.error_message


@pytest.mark.parametrize("format", ["avro", "json", "protobuf"])
def test_a_topic_that_validates_takes_what_serializers_write_and_nothing_else(
    up: Up, registry: SchemaRegistryClient, format: str
) -> None:
    topic = f"validated-{format}"
    config = {"lakestream.validate": "full", "lakestream.value.format": format}
    config |= {"json": {"lakestream.value.schema": "id"}, "protobuf": {"lakestream.value.message": "shop.Order"}}.get(
        format, {}
    )
    admin = AdminClient({"bootstrap.servers": up.kafka})
    admin.create_topics([NewTopic(topic, 1, config=config)])[topic].result(30)
    kind = order_class()
    shape = {"title": "P", "type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}
    serialize, value = {
        "avro": (AvroSerializer(registry, json.dumps(ORDER)), {"id": "o1", "total": Decimal(1)}),
        "json": (JSONSerializer(json.dumps(shape), registry), {"name": "x"}),
        "protobuf": (ProtobufSerializer(kind, registry), kind(id="o1", total={"cents": 5}, tags=["a"])),
    }[format]
    good = serialize(value, context(topic))  # type: ignore[operator]
    assert through_kafka(up, topic, [good]) == [good]
    codes = []
    producer = Producer({"bootstrap.servers": up.kafka, "linger.ms": 0})
    foreign = b"\0\0\0\xff\xff" + good[5:]
    for bad in (b"plain", good[:-1], good[:5] + b'{"other": 1}' if format == "json" else foreign):
        producer.produce(topic, bad, on_delivery=lambda error, _: codes.append(error and error.code()))
        assert producer.flush(30) == 0
    assert codes == [KafkaError.INVALID_RECORD] * 3


def test_the_client_administers(registry: SchemaRegistryClient) -> None:
    schema = Schema('"string"', "AVRO")
    id = registry.register_schema("adm", schema)
    assert registry.lookup_schema("adm", schema).schema_id == id
    assert registry.get_schema(id).schema_str == '"string"'
    assert "adm" in registry.get_subjects()
    assert registry.test_compatibility("adm", Schema('"bytes"', "AVRO"))
    assert not registry.test_compatibility("adm", Schema('"int"', "AVRO"))
    assert not registry.test_compatibility_all_versions("adm", Schema('"int"', "AVRO"))
    registry.set_compatibility("adm", "NONE")
    assert registry.get_compatibility("adm") == "NONE"
    assert registry.get_global_mode() == "READWRITE"
    registry.update_mode("adm", "READONLY")
    with pytest.raises(SchemaRegistryError) as refused:
        registry.register_schema("adm", Schema('"int"', "AVRO"))
    assert refused.value.error_code == 42205
    registry.delete_mode("adm")
    registry.register_schema("adm", Schema('"int"', "AVRO"))
    assert [one.version for one in registry.get_schema_versions(id)] == [1]
    assert registry.delete_version("adm", 1) == 1
    assert registry.delete_subject("adm") == [2]
    assert registry.delete_subject("adm", permanent=True) == [1, 2]
    with pytest.raises(SchemaRegistryError) as gone:
        registry.get_latest_version("adm")
    assert (gone.value.http_status_code, gone.value.error_code) == (404, 40401)
