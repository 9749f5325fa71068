"""Topics of each format, produced by the serializers that people use, through two versions of a schema."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool

Order = dict[str, Any]
Serialize = Callable[[Order], bytes]

BAD = b"\xff this is no order"
BAD_EVERY = 100


@dataclass(frozen=True)
class Format:
    name: str
    config: dict[str, str]
    versions: Callable[[str, str], list[Serialize]]
    """By topic and registry: how orders were written first, and later, when they had a note."""


def orders(count: int, *, first: int, with_note: bool) -> Iterator[Order]:
    for n in range(first, first + count):
        order = {"id": n, "item": f"item {n % 17} é", "price": n / 8, "paid": n % 3 == 0}
        yield order | ({"note": f"note {n}" if n % 2 else None} if with_note else {})


def avro_versions(topic: str, registry: str) -> list[Serialize]:
    fields = [
        {"name": "id", "type": "long"},
        {"name": "item", "type": "string"},
        {"name": "price", "type": "double"},
        {"name": "paid", "type": "boolean"},
    ]
    note = {"name": "note", "type": ["null", "string"], "default": None}
    schemas = [json.dumps({"type": "record", "name": "Order", "fields": own}) for own in (fields, [*fields, note])]
    return [_framed(AvroSerializer(SchemaRegistryClient({"url": registry}), schema), topic) for schema in schemas]


def json_schema_versions(topic: str, registry: str) -> list[Serialize]:
    properties = {
        "id": {"type": "integer"},
        "item": {"type": "string"},
        "price": {"type": "number"},
        "paid": {"type": "boolean"},
    }
    note = {"note": {"type": ["null", "string"]}}
    schemas = [
        json.dumps({"title": "Order", "type": "object", "properties": own, "additionalProperties": False})
        for own in (properties, properties | note)
    ]
    client = SchemaRegistryClient({"url": registry})
    return [_framed(JSONSerializer(schema, client, to_dict=lambda order, _: order), topic) for schema in schemas]


def protobuf_versions(topic: str, registry: str) -> list[Serialize]:
    return [_protobuf(topic, registry, with_note=with_note) for with_note in (False, True)]


def plain_json(topic: str, registry: str) -> list[Serialize]:
    return [lambda order: json.dumps(order).encode()] * 2


FORMATS = (
    Format("avro", {"lakestream.value.format": "avro"}, avro_versions),
    Format("json_schema", {"lakestream.value.format": "json", "lakestream.value.schema": "id"}, json_schema_versions),
    Format("protobuf", {"lakestream.value.format": "protobuf"}, protobuf_versions),
    Format("plain_json", {}, plain_json),
    Format("avro_untold", {}, avro_versions),
)


def _framed(serializer: Callable[..., bytes | None], topic: str) -> Serialize:
    context = SerializationContext(topic, MessageField.VALUE)

    def serialize(order: Order) -> bytes:
        value = serializer(order, context)
        assert value is not None
        return value

    return serialize


def _protobuf(topic: str, registry: str, *, with_note: bool) -> Serialize:
    field = descriptor_pb2.FieldDescriptorProto
    kinds = [("id", field.TYPE_INT64), ("item", field.TYPE_STRING), ("price", field.TYPE_DOUBLE)]
    kinds += [("paid", field.TYPE_BOOL), *([("note", field.TYPE_STRING)] if with_note else [])]
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", syntax="proto3", package="shop")
    message = file.message_type.add(name="Order")
    for number, (name, kind) in enumerate(kinds, 1):
        own = message.field.add(name=name, number=number, type=kind, label=field.LABEL_OPTIONAL)
        if name == "note":
            message.oneof_decl.add(name="_note")
            own.proto3_optional, own.oneof_index = True, 0
    pool = DescriptorPool()
    pool.Add(file)
    order_class = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Order"))
    client = SchemaRegistryClient({"url": registry})
    serializer = ProtobufSerializer(order_class, client, {"use.deprecated.format": False})
    serialize = _framed(serializer, topic)
    return lambda order: serialize(order_class(**{name: value for name, value in order.items() if value is not None}))
