"""aiokafka: asyncio, old protocol versions. Every call runs its own event loop, as a short script would."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError

from .client import ANSWER_S_MAX, CODECS, Read, Record, Refused


class Aiokafka:
    name = "aiokafka"
    codecs = CODECS
    null_header_values = True

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def create_topic(self, topic: str, partitions: int, configs: dict[str, str]) -> None:
        asyncio.run(self._create_topic(NewTopic(topic, partitions, 1, topic_configs=configs)))

    async def _create_topic(self, topic: NewTopic) -> None:
        async with self._admin() as admin:
            _refuse((await admin.create_topics([topic])).topic_errors)

    def delete_topic(self, topic: str) -> None:
        asyncio.run(self._delete_topic(topic))

    async def _delete_topic(self, topic: str) -> None:
        async with self._admin() as admin:
            _refuse((await admin.delete_topics([topic])).topic_error_codes)

    def add_partitions(self, topic: str, total: int) -> None:
        asyncio.run(self._add_partitions(topic, total))

    async def _add_partitions(self, topic: str, total: int) -> None:
        async with self._admin() as admin:
            _refuse((await admin.create_partitions({topic: NewPartitions(total)})).topic_errors)

    def partition_count(self, topic: str) -> int:
        return asyncio.run(self._partition_count(topic))

    async def _partition_count(self, topic: str) -> int:
        async with self._admin() as admin:
            found = {each["topic"]: each for each in await admin.describe_topics()}
        return len(found[topic]["partitions"]) if topic in found else 0

    def configs(self, topic: str) -> dict[str, str]:
        return asyncio.run(self._configs(topic))

    async def _configs(self, topic: str) -> dict[str, str]:
        async with self._admin() as admin:
            [answer] = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
        [(code, message, _, _, entries)] = answer.resources
        _refuse([(topic, code, message)])
        return {entry[0]: entry[1] for entry in entries}

    def set_config(self, topic: str, name: str, value: str) -> None:
        asyncio.run(self._set_config(topic, {name: value}))

    async def _set_config(self, topic: str, configs: dict[str, str]) -> None:
        async with self._admin() as admin:
            [answer] = await admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, configs)])
        [(code, message, *_)] = answer.resources
        _refuse([(topic, code, message)])

    def delete_records(self, topic: str, partition: int, before_offset: int) -> None:
        asyncio.run(self._delete_records(TopicPartition(topic, partition), before_offset))

    async def _delete_records(self, where: TopicPartition, before_offset: int) -> None:
        async with self._admin() as admin:
            await admin.delete_records({where: RecordsToDelete(before_offset=before_offset)})

    def write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        return asyncio.run(self._write(topic, partition, codec, records))

    async def _write(self, topic: str, partition: int, codec: str, records: Sequence[Record]) -> list[int]:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            acks="all",
            enable_idempotence=True,
            compression_type=None if codec == "none" else codec,
            linger_ms=5,
        )
        await producer.start()
        try:
            pending = [
                await producer.send(
                    topic,
                    partition=partition,
                    key=record.key,
                    value=record.value,
                    headers=list(record.headers),
                    timestamp_ms=record.timestamp_ms,
                )
                for record in records
            ]
            return [sent.offset for sent in await asyncio.wait_for(asyncio.gather(*pending), ANSWER_S_MAX)]
        except KafkaError as error:
            raise Refused(error.errno, str(error)) from error
        finally:
            await producer.stop()

    def read(self, topic: str, partition: int, offset: int, count: int) -> list[Read]:
        return asyncio.run(self._read(TopicPartition(topic, partition), offset, count))

    async def _read(self, where: TopicPartition, offset: int, count: int) -> list[Read]:
        taken: list[Read] = []
        deadline = asyncio.get_running_loop().time() + ANSWER_S_MAX
        async with self._consumer(where) as consumer:
            consumer.seek(where, offset)
            while len(taken) < count and asyncio.get_running_loop().time() < deadline:
                arrived = await consumer.getmany(timeout_ms=500, max_records=count - len(taken))
                taken += [_read(message) for messages in arrived.values() for message in messages]
        return taken

    def bounds(self, topic: str, partition: int) -> tuple[int, int]:
        return asyncio.run(self._bounds(TopicPartition(topic, partition)))

    async def _bounds(self, where: TopicPartition) -> tuple[int, int]:
        async with self._consumer(where) as consumer:
            beginning, end = await consumer.beginning_offsets([where]), await consumer.end_offsets([where])
        return beginning[where], end[where]

    def offset_at(self, topic: str, partition: int, timestamp_ms: int) -> int:
        return asyncio.run(self._offset_at(TopicPartition(topic, partition), timestamp_ms))

    async def _offset_at(self, where: TopicPartition, timestamp_ms: int) -> int:
        async with self._consumer(where) as consumer:
            found = (await consumer.offsets_for_times({where: timestamp_ms}))[where]
            return found.offset if found else (await consumer.end_offsets([where]))[where]

    def close(self) -> None:
        pass

    @asynccontextmanager
    async def _admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            yield admin
        except KafkaError as error:  # some calls raise, others answer with codes
            raise Refused(error.errno, str(error)) from error
        finally:
            await admin.close()

    @asynccontextmanager
    async def _consumer(self, where: TopicPartition) -> AsyncIterator[AIOKafkaConsumer]:
        consumer = AIOKafkaConsumer(bootstrap_servers=self._bootstrap, group_id=None, enable_auto_commit=False)
        await consumer.start()
        try:
            consumer.assign([where])
            yield consumer
        finally:
            await consumer.stop()


def _read(message: Any) -> Read:
    record = Record(
        key=message.key, value=message.value, headers=tuple(message.headers), timestamp_ms=message.timestamp
    )
    return Read(offset=message.offset, record=record)


def _refuse(errors: Sequence[tuple[Any, ...]]) -> None:
    for _, code, *message in errors:
        if code:
            raise Refused(code, str(message))
