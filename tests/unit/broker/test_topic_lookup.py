"""Looking topics up: what is known costs nothing, what is not is asked for once a request."""

import asyncio
from typing import Any

import pytest

from lakestream.broker.directory import Directory
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.metadata.store import TopicsView
from lakestream.model.errors import UnknownPartition, UnknownTopic, UnknownTopicId
from lakestream.model.topic import Topic
from lakestream.world.clock import SystemClock
from lakestream.world.tasks import Tasks

ID = b"i" * 16


class Store:
    """Topics that another broker changes."""

    def __init__(self) -> None:
        self.partitions = 0
        self.asked = 0

    async def topics_version(self) -> int:
        self.asked += 1
        return self.partitions

    async def topics(self) -> TopicsView:
        topics = (Topic(id=ID, name="t", partitions=tuple(range(self.partitions)), config={}, created_ms=0),)
        return TopicsView(self.partitions, topics if self.partitions else ())


def _lookup() -> tuple[Any, Directory]:
    store: Any = Store()
    return store, Directory(store, SystemClock(), Tasks(on_failure=lambda name, error: None))


def test_a_topic_of_another_broker_is_found_by_name_and_id() -> None:
    async def check() -> None:
        store, directory = _lookup()
        store.partitions = 2
        assert TopicLookup(directory).known("t") is None
        assert (await TopicLookup(directory).topic("t")).topic.id == ID
        assert (await TopicLookup(directory).topic(None, ID)).topic.name == "t"

    asyncio.run(check())


def test_topics_of_another_broker_are_learned_and_known_ones_cost_nothing() -> None:
    """As OffsetFetch does for all that a group has committed, which any broker may be asked."""

    async def check() -> None:
        store, directory = _lookup()
        store.partitions = 1
        await TopicLookup(directory).learn([ID])
        assert TopicLookup(directory).known(None, ID) is not None
        await TopicLookup(directory).learn([ID])
        assert store.asked == 1

    asyncio.run(check())


def test_a_partition_added_by_another_broker_is_found() -> None:
    async def check() -> None:
        store, directory = _lookup()
        store.partitions = 2
        await directory.refresh()
        store.partitions = 5
        _, partition = await TopicLookup(directory).partition("t", NO_TOPIC_ID, 4)
        assert partition == 4

    asyncio.run(check())


def test_the_store_is_asked_once_however_many_are_unknown() -> None:
    async def check() -> None:
        store, directory = _lookup()
        store.partitions = 1
        lookup = TopicLookup(directory)
        for at in range(20):
            with pytest.raises(UnknownTopic):
                await lookup.topic(f"no-{at}")
            with pytest.raises(UnknownTopicId):
                await lookup.topic(None, bytes([at + 1]) * 16)
            with pytest.raises(UnknownPartition):
                await lookup.partition("t", NO_TOPIC_ID, 7 + at)
        assert store.asked == 1

    asyncio.run(check())
