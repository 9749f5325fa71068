"""confluent-kafka: librdkafka."""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import confluent_kafka as ck
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, NewTopic

from .client import ANSWER_S_MAX, CODECS, Read, Record, Refused


class Confluent:
    name = "confluent-kafka"
    codecs = CODECS
    null_header_values = True

    def __init__(self, bootstrap: str) -> None:
        self._servers = {"bootstrap.servers": bootstrap}
        self._admin = AdminClient(self._servers)

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        _settle(self._admin.create_topics([NewTopic(topic, partitions, 1, config=configs)]).values())

    def delete_topic(self, topic: str) -> None:
        _settle(self._admin.delete_topics([topic]).values())

    def add_partitions(self, topic: str, total: int) -> None:
        _settle(self._admin.create_partitions([NewPartitions(topic, total)]).values())

    def partition_count(self, topic: str) -> int:
        found = self._admin.list_topics(timeout=ANSWER_S_MAX).topics.get(topic)
        return len(found.partitions) if found else 0

    def configs(self, topic: str) -> dict[str, str]:
        [entries] = _settle(self._admin.describe_configs([_resource(topic)]).values())
        return {name: entry.value for name, entry in entries.items()}

    def set_config(self, topic: str, name: str, value: str) -> None:
        entry = ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        _settle(self._admin.incremental_alter_configs([_resource(topic, [entry])]).values())

    def delete_records(self, topic: str, partition: int, before_offset: int) -> None:
        _settle(self._admin.delete_records([ck.TopicPartition(topic, partition, before_offset)]).values())

    def write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        options = {"acks": "all", "enable.idempotence": True, "compression.type": codec, "linger.ms": 5}
        producer = ck.Producer(self._servers | options)
        delivered: list[tuple[Any, ck.Message]] = []
        for record in records:
            producer.produce(
                topic,
                partition=partition,
                key=record.key,
                value=record.value,
                headers=list(record.headers),
                timestamp=record.timestamp_ms,
                on_delivery=lambda error, message: delivered.append((error, message)),
            )
        unsent = producer.flush(ANSWER_S_MAX)
        if unsent:
            raise TimeoutError(f"{unsent} records were not acknowledged")
        for error, _ in delivered:
            if error is not None:
                raise Refused(error.code(), error.str())
        return [message.offset() for _, message in delivered]

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Read]:
        with self._consumer() as consumer:
            consumer.assign([ck.TopicPartition(topic, partition, offset)])
            deadline = time.monotonic() + ANSWER_S_MAX
            if _take(consumer, 1, deadline):  # librdkafka seeks only where a fetch has begun
                consumer.seek(ck.TopicPartition(topic, partition, offset))
            return [_read(message) for message in _take(consumer, count, deadline)]

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        with self._consumer() as consumer:
            where = ck.TopicPartition(topic, partition)
            beginning, end = consumer.get_watermark_offsets(where, timeout=ANSWER_S_MAX)
            return beginning, end

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        with self._consumer() as consumer:
            [found] = consumer.offsets_for_times([ck.TopicPartition(topic, partition, timestamp_ms)], ANSWER_S_MAX)
        if found.error:
            raise Refused(found.error.code(), found.error.str())
        return self.bounds(topic, partition)[1] if found.offset == ck.OFFSET_END else int(found.offset)

    def close(self) -> None:
        pass

    def _consumer(self) -> ck.Consumer:
        return ck.Consumer(self._servers | {"group.id": "unused", "enable.auto.commit": False})


def _take(consumer: ck.Consumer, count: int, deadline: float) -> list[ck.Message]:
    taken: list[ck.Message] = []
    while len(taken) < count and time.monotonic() < deadline:
        for message in consumer.consume(count - len(taken), 0.5):
            if message.error():
                raise Refused(message.error().code(), message.error().str())
            taken.append(message)
    return taken


def _read(message: ck.Message) -> Read:
    record = Record(
        key=message.key(),
        value=message.value(),
        headers=tuple(message.headers() or ()),
        timestamp_ms=message.timestamp()[1],
    )
    return Read(offset=message.offset(), record=record)


def _resource(topic: str, entries: list[ConfigEntry] | None = None) -> ConfigResource:
    return ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)


def _settle(futures: "Iterable[Future[Any]]") -> list[Any]:
    try:
        return [future.result(ANSWER_S_MAX) for future in futures]
    except ck.KafkaException as error:
        raise Refused(error.args[0].code(), error.args[0].str()) from error
