"""All records of a topic, as a consumer gets them."""

from typing import Any

from confluent_kafka import Consumer, TopicPartition

from tests.integration.tables.lake import RunningLake

PATIENCE_SECONDS = 60
Record = tuple[int, int, Any, Any, Any, int]
"""partition, offset, key, value, headers, timestamp"""


def consumed(lake: RunningLake, topic: str, partitions: int) -> list[Record]:
    """What a consumer gets, from the beginning to the end of every partition."""
    consumer = Consumer({"bootstrap.servers": lake.kafka, "group.id": "reader", "enable.auto.commit": False})
    places = [TopicPartition(topic, number, 0) for number in range(partitions)]
    ends = sum(consumer.get_watermark_offsets(place)[1] for place in places)
    consumer.assign(places)
    records: list[Record] = []
    while len(records) < ends:
        messages = consumer.consume(ends - len(records), PATIENCE_SECONDS)
        assert messages, f"{len(records)} of {ends}"
        for message in messages:
            assert message.error() is None, message.error()
            headers = [tuple(header) for header in message.headers() or []]
            place = (message.partition(), message.offset())
            records.append((*place, message.key(), message.value(), headers, message.timestamp()[1]))
    consumer.close()
    return sorted(records, key=lambda record: record[:2])
