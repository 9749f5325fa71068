"""kafka-python: pure Python."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.codec import has_lz4, has_snappy, has_zstd
from kafka.errors import KafkaError

from .client import ANSWER_S_MAX, Read, Record, Refused

OPTIONAL: dict[str, Callable[[], bool]] = {"snappy": has_snappy, "lz4": has_lz4, "zstd": has_zstd}


class KafkaPython:
    name = "kafka-python"
    codecs = ("none", "gzip", *(codec for codec, installed in OPTIONAL.items() if installed()))
    null_header_values = False  # its producer refuses them

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap
        self._admin = KafkaAdminClient(bootstrap_servers=bootstrap)

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        options = {"num_partitions": partitions, "replication_factor": 1, "configs": configs}
        _ask(lambda: self._admin.create_topics({topic: options}))

    def delete_topic(self, topic: str) -> None:
        _ask(lambda: self._admin.delete_topics([topic]))

    def add_partitions(self, topic: str, total: int) -> None:
        _ask(lambda: self._admin.create_partitions({topic: total}))

    def partition_count(self, topic: str) -> int:
        if topic not in self._admin.list_topics():
            return 0
        [found] = self._admin.describe_topics([topic])
        return len(found["partitions"])

    def configs(self, topic: str) -> dict[str, str]:
        found = _ask(lambda: self._admin.describe_configs([_resource(topic, None)], config_filter="all"))
        return {name: entry["value"] for name, entry in found["topic"][topic].items()}

    def set_config(self, topic: str, name: str, value: str) -> None:
        # The library checks names itself; the broker's own check is what is under test.
        _ask(lambda: self._admin.alter_configs([_resource(topic, {name: value})], raise_on_unknown=False))

    def delete_records(self, topic: str, partition: int, before_offset: int) -> None:
        _ask(lambda: self._admin.delete_records({TopicPartition(topic, partition): before_offset}))

    def write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all",
            enable_idempotence=True,
            compression_type=None if codec == "none" else codec,
            linger_ms=5,
        )
        try:
            pending = [
                producer.send(
                    topic,
                    partition=partition,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            return _ask(lambda: [sent.get(ANSWER_S_MAX).offset for sent in pending])
        finally:
            producer.close(ANSWER_S_MAX)

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Read]:
        taken: list[Read] = []
        deadline = time.monotonic() + ANSWER_S_MAX
        where = TopicPartition(topic, partition)
        consumer = self._consumer()
        try:
            consumer.assign([where])
            consumer.seek(where, offset)
            while len(taken) < count and time.monotonic() < deadline:
                arrived = consumer.poll(timeout_ms=500, max_records=count - len(taken))
                taken += [_read(message) for message in arrived.get(where, [])]
        finally:
            consumer.close()
        return taken

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        where = TopicPartition(topic, partition)
        consumer = self._consumer()
        try:
            return consumer.beginning_offsets([where])[where], consumer.end_offsets([where])[where]
        finally:
            consumer.close()

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        where = TopicPartition(topic, partition)
        consumer = self._consumer()
        try:
            found = consumer.offsets_for_times({where: timestamp_ms})[where]
            return int(found.offset if found else consumer.end_offsets([where])[where])
        finally:
            consumer.close()

    def close(self) -> None:
        self._admin.close()

    def _consumer(self) -> KafkaConsumer:
        return KafkaConsumer(bootstrap_servers=self._bootstrap, group_id=None, enable_auto_commit=False)


def _read(message: Any) -> Read:
    record = Record(
        key=message.key, value=message.value, headers=tuple(message.headers), timestamp_ms=message.timestamp
    )
    return Read(offset=message.offset, record=record)


def _resource(topic: str, configs: dict[str, str] | None) -> ConfigResource:
    return ConfigResource(ConfigResourceType.TOPIC, topic, configs)


def _ask(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except KafkaError as error:
        raise Refused(error.errno, str(error)) from error
