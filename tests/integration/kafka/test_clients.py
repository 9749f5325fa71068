"""Real clients on real sockets: confluent-kafka (librdkafka), aiokafka and kafka-python."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin import NewTopic as AioNewTopic
from aiokafka.structs import TopicPartition as AioPartition
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from kafka import KafkaConsumer, KafkaProducer
from kafka import TopicPartition as PyPartition
from kafka.admin import KafkaAdminClient
from kafka.admin import NewTopic as PyNewTopic

from .running import Running

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
WAIT_SECONDS = 20
VALUES = [b"value-%d" % at * (at % 50) for at in range(500)]


@pytest.fixture
def admin(lakestream: Running) -> Iterator[AdminClient]:
    yield AdminClient({"bootstrap.servers": lakestream.bootstrap})


def _confluent_values(bootstrap: str, topic: str, count: int) -> list[bytes | None]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "unused", "auto.offset.reset": "earliest", "check.crcs": True}
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        found: list[bytes | None] = []
        while len(found) < count:
            taken = consumer.consume(count - len(found), timeout=WAIT_SECONDS)
            assert taken, f"only {len(found)} of {count} came"
            for each in taken:
                assert each.error() is None, each.error()
                assert each.offset() == len(found)
                found.append(each.value())
        return found
    finally:
        consumer.close()


@pytest.mark.parametrize("codec", CODECS)
def test_confluent_kafka_reads_what_it_wrote(codec: str, name: str, lakestream: Running) -> None:
    producer = Producer({"bootstrap.servers": lakestream.bootstrap, "compression.type": codec, "linger.ms": 5})
    for value in VALUES:
        producer.produce(name, value)
    assert producer.flush(WAIT_SECONDS) == 0
    assert _confluent_values(lakestream.bootstrap, name, len(VALUES)) == VALUES


@pytest.mark.parametrize("codec", CODECS)
def test_aiokafka_writes_what_confluent_kafka_reads(codec: str, name: str, lakestream: Running) -> None:
    async def write() -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=lakestream.bootstrap, compression_type=None if codec == "none" else codec
        )
        async with producer:
            sent = [await producer.send(name, value) for value in VALUES]
            await asyncio.gather(*sent)

    asyncio.run(write())
    assert _confluent_values(lakestream.bootstrap, name, len(VALUES)) == VALUES


@pytest.mark.parametrize("codec", [codec for codec in CODECS if codec != "snappy"])  # it needs a library of its own
def test_kafka_python_reads_what_it_wrote(codec: str, name: str, lakestream: Running) -> None:
    producer = KafkaProducer(
        bootstrap_servers=lakestream.addresses, compression_type=None if codec == "none" else codec, linger_ms=5
    )
    for value in VALUES:
        producer.send(name, value, headers=[("h", b"x")])
    producer.flush(WAIT_SECONDS)
    producer.close()
    assert _kafka_python_values(lakestream.addresses, name, len(VALUES)) == VALUES


def _kafka_python_values(addresses: list[str], topic: str, count: int) -> list[bytes]:
    consumer = KafkaConsumer(bootstrap_servers=addresses, auto_offset_reset="earliest", group_id=None)
    try:
        partition = PyPartition(topic, 0)
        consumer.assign([partition])
        consumer.seek_to_beginning(partition)
        found: list[bytes] = []
        while len(found) < count:
            taken = consumer.poll(timeout_ms=WAIT_SECONDS * 1000)
            assert taken, f"only {len(found)} of {count} came"
            found += [each.value for batch in taken.values() for each in batch]
        return found
    finally:
        consumer.close()


def test_aiokafka_reads_and_seeks_by_time(name: str, lakestream: Running) -> None:
    async def check() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=lakestream.bootstrap)
        async with producer:
            for at in range(10):
                await producer.send_and_wait(name, b"%d" % at, timestamp_ms=1_700_000_000_000 + at * 1000)
        consumer = AIOKafkaConsumer(bootstrap_servers=lakestream.bootstrap, auto_offset_reset="earliest")
        async with consumer:
            partition = AioPartition(name, 0)
            consumer.assign([partition])
            times = await consumer.offsets_for_times({partition: 1_700_000_004_500})
            assert times[partition].offset == 5
            assert await consumer.end_offsets([partition]) == {partition: 10}
            consumer.seek(partition, 5)
            assert (await asyncio.wait_for(consumer.getone(), WAIT_SECONDS)).value == b"5"

    asyncio.run(check())


@pytest.mark.parametrize("client", ["confluent", "aiokafka", "kafka-python"])
def test_idempotent_producers_write_every_record_once(client: str, name: str, lakestream: Running) -> None:
    values = [b"%d" % at for at in range(2000)]
    _IDEMPOTENT[client](lakestream, name, values)
    assert _confluent_values(lakestream.bootstrap, name, len(values)) == values


def _confluent_idempotent(lakestream: Running, topic: str, values: list[bytes]) -> None:
    producer = Producer(
        {"bootstrap.servers": lakestream.bootstrap, "enable.idempotence": True, "batch.num.messages": 20}
    )
    for value in values:
        producer.produce(topic, value)
    assert producer.flush(WAIT_SECONDS) == 0


def _aiokafka_idempotent(lakestream: Running, topic: str, values: list[bytes]) -> None:
    async def write() -> None:
        async with AIOKafkaProducer(bootstrap_servers=lakestream.bootstrap, enable_idempotence=True) as producer:
            await asyncio.gather(*[await producer.send(topic, value, partition=0) for value in values])

    asyncio.run(write())


def _kafka_python_idempotent(lakestream: Running, topic: str, values: list[bytes]) -> None:
    producer = KafkaProducer(bootstrap_servers=lakestream.addresses, enable_idempotence=True, batch_size=500)
    for value in values:
        producer.send(topic, value)
    producer.flush(WAIT_SECONDS)
    producer.close()


_IDEMPOTENT = {
    "confluent": _confluent_idempotent,
    "aiokafka": _aiokafka_idempotent,
    "kafka-python": _kafka_python_idempotent,
}


def test_a_consumer_waits_for_records_that_come_later(name: str, admin: AdminClient, lakestream: Running) -> None:
    """Through librdkafka: long polls, woken by a producer at any broker."""
    admin.create_topics([NewTopic(name, 1)])[name].result()
    found: list[Any] = []
    reader = threading.Thread(target=lambda: found.extend(_confluent_values(lakestream.bootstrap, name, 20)))
    reader.start()
    producer = Producer({"bootstrap.servers": lakestream.bootstrap})
    for at in range(20):
        producer.produce(name, b"%d" % at)
        producer.flush(WAIT_SECONDS)
    reader.join(WAIT_SECONDS)
    assert found == [b"%d" % at for at in range(20)]


# --- administration


def test_confluent_admin_creates_describes_alters_grows_and_deletes(name: str, admin: AdminClient) -> None:
    admin.create_topics([NewTopic(name, 3, config={"retention.ms": "60000"})])[name].result(WAIT_SECONDS)
    resource = ConfigResource(ResourceType.TOPIC, name)
    assert _config(admin, resource)["retention.ms"].value == "60000"
    change = ConfigResource(
        ResourceType.TOPIC,
        name,
        incremental_configs=[ConfigEntry("retention.ms", "70000", incremental_operation=AlterConfigOpType.SET)],
    )
    admin.incremental_alter_configs([change])[change].result(WAIT_SECONDS)
    assert _config(admin, resource)["retention.ms"].value == "70000"
    admin.create_partitions([NewPartitions(name, 5)])[name].result(WAIT_SECONDS)
    assert len(admin.list_topics(name, timeout=WAIT_SECONDS).topics[name].partitions) == 5
    end = admin.list_offsets({TopicPartition(name, 4): OffsetSpec.latest()})[TopicPartition(name, 4)]
    assert end.result(WAIT_SECONDS).offset == 0
    admin.delete_topics([name])[name].result(WAIT_SECONDS)
    assert name not in admin.list_topics(timeout=WAIT_SECONDS).topics


def _config(admin: AdminClient, resource: ConfigResource) -> dict[str, Any]:
    shown: dict[str, Any] = admin.describe_configs([resource])[resource].result(WAIT_SECONDS)
    return shown


def test_confluent_admin_deletes_records_and_describes_the_cluster(name: str, lakestream: Running) -> None:
    admin = AdminClient({"bootstrap.servers": lakestream.bootstrap})
    producer = Producer({"bootstrap.servers": lakestream.bootstrap})
    for at in range(10):
        producer.produce(name, b"%d" % at)
    producer.flush(WAIT_SECONDS)
    upto = TopicPartition(name, 0, 4)
    assert admin.delete_records([upto])[upto].result(WAIT_SECONDS).low_watermark == 4
    cluster = admin.describe_cluster().result(WAIT_SECONDS)
    assert sorted(each.id for each in cluster.nodes) == [1, 2]


def test_kafka_python_admin_creates_describes_and_deletes(name: str, lakestream: Running) -> None:
    admin = KafkaAdminClient(bootstrap_servers=lakestream.addresses)
    try:
        admin.create_topics([PyNewTopic(name, num_partitions=2, replication_factor=1)])
        assert name in admin.list_topics()
        (described,) = admin.describe_topics([name])
        assert len(described["partitions"]) == 2
        admin.delete_topics([name])
        assert name not in admin.list_topics()
    finally:
        admin.close()


def test_aiokafka_admin_creates_and_deletes(name: str, lakestream: Running) -> None:
    async def check() -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=lakestream.bootstrap)
        await admin.start()
        try:
            await admin.create_topics([AioNewTopic(name, num_partitions=2, replication_factor=1)])
            assert name in await admin.list_topics()
            await admin.delete_topics([name])
            assert name not in await admin.list_topics()
        finally:
            await admin.close()

    asyncio.run(check())
