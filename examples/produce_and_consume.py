"""Produce and consume with confluent-kafka, as against any Kafka.

python examples/produce_and_consume.py 127.0.0.1:9092
"""

import json
import sys

from confluent_kafka import Consumer, Producer

BOOTSTRAP = sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:9092"
TOPIC, COUNT = "example-orders", 20

producer = Producer({"bootstrap.servers": BOOTSTRAP, "enable.idempotence": True})
for number in range(COUNT):
    order = {"order_id": number, "sku": f"SKU-{number % 3}", "quantity": number % 5 + 1}
    producer.produce(TOPIC, key=str(number), value=json.dumps(order))
assert producer.flush(60) == 0  # every record is durable in the object store now, with its offset

consumer = Consumer({"bootstrap.servers": BOOTSTRAP, "group.id": "example", "auto.offset.reset": "earliest"})
consumer.subscribe([TOPIC])
seen = 0
while seen < COUNT:
    message = consumer.poll(60)
    assert message is not None and message.error() is None, message
    seen += 1
consumer.commit(asynchronous=False)
consumer.close()
print(f"produced and consumed {seen} records of {TOPIC}")
