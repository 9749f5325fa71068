"""Transactions through real clients: confluent-kafka and aiokafka (transaction version 1), and the wire itself (2)."""

import asyncio
from collections.abc import Iterator

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka import TopicPartition as Place
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from .running import Running
from .wire_client import WireClient

SECONDS_MAX = 30


def producer(lakestream: Running, id: str, **changes: object) -> Producer:
    made = Producer({"bootstrap.servers": lakestream.bootstrap, "transactional.id": id, **changes})
    made.init_transactions(SECONDS_MAX)
    return made


def values(lakestream: Running, topic: str, partition: int = 0, *, isolation: str = "read_committed") -> list[str]:
    """Everything that a reader of this isolation level sees now."""
    consumer = Consumer(
        {
            "bootstrap.servers": lakestream.bootstrap,
            "group.id": "reader",
            "isolation.level": isolation,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition(topic, partition, 0)])
    seen: list[str] = []
    try:
        while (message := consumer.poll(SECONDS_MAX)) is not None and message.error() is None:
            seen.append((message.value() or b"").decode())
        assert message is not None, "the end was not reached"
        return seen
    finally:
        consumer.close()


def test_committed_records_are_seen_and_aborted_ones_are_not(lakestream: Running, topic: str) -> None:
    writer = producer(lakestream, f"tx-{topic}")
    for number, ends in enumerate((Producer.commit_transaction, Producer.abort_transaction) * 2):
        writer.begin_transaction()
        for partition in (0, 1):
            writer.produce(topic, f"{number}-a", partition=partition)
            writer.produce(topic, f"{number}-b", partition=partition)
        writer.flush(SECONDS_MAX)
        ends(writer, SECONDS_MAX)
    for partition in (0, 1):
        assert values(lakestream, topic, partition) == ["0-a", "0-b", "2-a", "2-b"]
        everything = values(lakestream, topic, partition, isolation="read_uncommitted")
        assert everything == [f"{number}-{which}" for number in range(4) for which in "ab"]


def test_readers_of_committed_records_wait_for_an_open_transaction(lakestream: Running, topic: str) -> None:
    writer, plain = producer(lakestream, f"tx-{topic}"), Producer({"bootstrap.servers": lakestream.bootstrap})
    plain.produce(topic, "before", partition=0)
    plain.flush(SECONDS_MAX)
    writer.begin_transaction()
    writer.produce(topic, "inside", partition=0)
    writer.flush(SECONDS_MAX)
    plain.produce(topic, "after", partition=0)
    plain.flush(SECONDS_MAX)
    assert values(lakestream, topic) == ["before"]
    assert values(lakestream, topic, isolation="read_uncommitted") == ["before", "inside", "after"]
    writer.commit_transaction(SECONDS_MAX)
    assert values(lakestream, topic) == ["before", "inside", "after"]


def test_a_second_producer_fences_the_first_and_aborts_what_it_left(lakestream: Running, topic: str) -> None:
    old = producer(lakestream, f"tx-{topic}")
    old.begin_transaction()
    old.produce(topic, "left behind", partition=0)
    old.flush(SECONDS_MAX)
    new = producer(lakestream, f"tx-{topic}")
    new.begin_transaction()
    new.produce(topic, "new", partition=0)
    new.commit_transaction(SECONDS_MAX)
    with pytest.raises(KafkaException) as fenced:
        old.commit_transaction(SECONDS_MAX)
    assert fenced.value.args[0].fatal()
    assert values(lakestream, topic) == ["new"]


@pytest.fixture
def copied(lakestream: Running, topic: str, client: WireClient) -> Iterator[str]:
    """A topic that another one is copied to."""
    name = f"{topic}-copy"
    client.create_topic(name, partitions=1)
    yield name


def test_offsets_are_committed_with_the_records_or_not_at_all(lakestream: Running, topic: str, copied: str) -> None:
    plain = Producer({"bootstrap.servers": lakestream.bootstrap})
    for number in range(6):
        plain.produce(topic, str(number), partition=0)
    plain.flush(SECONDS_MAX)
    group = f"copy-{topic}"
    writer = producer(lakestream, f"tx-{topic}")

    def copy(count: int, *, commits: bool) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": lakestream.bootstrap,
                "group.id": group,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )
        consumer.assign([TopicPartition(topic, 0)])
        writer.begin_transaction()
        for _ in range(count):
            message = consumer.poll(SECONDS_MAX)
            assert message is not None
            assert message.error() is None
            writer.produce(copied, message.value(), partition=0)
        writer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), SECONDS_MAX
        )
        if commits:
            writer.commit_transaction(SECONDS_MAX)
        else:
            writer.abort_transaction(SECONDS_MAX)
        consumer.close()

    copy(2, commits=True)
    copy(3, commits=False)
    copy(4, commits=True)
    assert values(lakestream, copied) == [str(number) for number in range(6)]


def test_aiokafka_writes_transactions(lakestream: Running, topic: str) -> None:
    async def write() -> None:
        writer = AIOKafkaProducer(bootstrap_servers=lakestream.bootstrap, transactional_id=f"aio-{topic}")
        await writer.start()
        try:
            async with writer.transaction():
                await writer.send(topic, b"kept", partition=0)
                await writer.send(topic, b"kept too", partition=0)
            await writer.begin_transaction()
            await writer.send_and_wait(topic, b"dropped", partition=0)
            await writer.abort_transaction()
        finally:
            await writer.stop()

    asyncio.run(write())
    assert values(lakestream, topic) == ["kept", "kept too"]


def test_a_producer_commits_for_a_group_whose_members_it_does_not_name(
    lakestream: Running, topic: str, copied: str
) -> None:
    """aiokafka, and kafkajs, tell the group alone, though it has members."""
    plain = Producer({"bootstrap.servers": lakestream.bootstrap})
    for number in range(4):
        plain.produce(topic, str(number), partition=0)
    plain.flush(SECONDS_MAX)
    group = f"members-{topic}"

    async def copy() -> int:
        reader = AIOKafkaConsumer(
            topic,
            bootstrap_servers=lakestream.bootstrap,
            group_id=group,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        writer = AIOKafkaProducer(bootstrap_servers=lakestream.bootstrap, transactional_id=f"members-{topic}")
        await reader.start()
        await writer.start()
        try:
            async with writer.transaction():
                for _ in range(4):
                    message = await asyncio.wait_for(reader.getone(), SECONDS_MAX)
                    await writer.send(copied, message.value, partition=0)
                place = Place(topic, 0)
                await writer.send_offsets_to_transaction({place: await reader.position(place)}, group)
            return int(await reader.committed(place))
        finally:
            await writer.stop()
            await reader.stop()

    assert asyncio.run(copy()) == 4
    assert values(lakestream, copied) == ["0", "1", "2", "3"]
