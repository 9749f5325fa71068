"""Avro values with a schema in the built-in registry: the topic's table gets typed columns.

python examples/avro_with_registry.py 127.0.0.1:9092 http://127.0.0.1:8080
"""

import sys
from decimal import Decimal

from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

BOOTSTRAP = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9092"
GATEWAY = sys.argv[2] if len(sys.argv) > 2 else "http://127.0.0.1:8080"
TOPIC = "example-payments"
SCHEMA = """
{"type": "record", "name": "Payment", "fields": [
  {"name": "id", "type": "long"},
  {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
  {"name": "currency", "type": "string"}]}
"""

registry = SchemaRegistryClient({"url": f"{GATEWAY}/registry"})
serialize = AvroSerializer(registry, SCHEMA)
producer = Producer({"bootstrap.servers": BOOTSTRAP})
for number in range(10):
    payment = {"id": number, "amount": Decimal(number) + Decimal("0.99"), "currency": "EUR"}
    producer.produce(TOPIC, serialize(payment, SerializationContext(TOPIC, MessageField.VALUE)))
assert producer.flush(60) == 0
print(f"produced 10 records of {TOPIC}; their schema is version 1 of {registry.get_subjects()}")
