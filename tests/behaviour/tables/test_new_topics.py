"""A table that makes a topic: both are there after one transaction, or neither is."""

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import TopicExists
from lakestream.model.table import PointerMove, RequestReceipt, TableKind
from lakestream.model.table_errors import AnsweredBefore, TableExists
from lakestream.model.topic import TopicSpec
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.tables.pointers import pointer


def creation(stage: Stage, table: str, topic: str, partitions: int = 2) -> PointerMove:
    spec = TopicSpec(id=stage.ids.topic_id(), name=topic, partitions=partitions, config={"retention.ms": "5"})
    made = pointer(table, kind=TableKind.TOPIC, topic=spec.id)
    return PointerMove(pointer=made, expected_location=None, new_topic=spec)


def test_a_table_and_its_topic_are_made_together(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {})
        before = await store.topics_version()
        move = creation(stage, "t", "t")
        await store.tables.move_tables([move])
        (topic,) = (await store.topics()).topics
        assert (topic.name, len(topic.partitions), topic.config) == ("t", 2, {"retention.ms": "5"})
        assert await store.tables.table_of_topic(topic.id) == move.pointer
        assert await store.topics_version() > before

    stage.run(scenario)


def test_neither_is_made_if_one_of_the_names_is_taken(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {})
        taken = await stage.topic(store)
        with pytest.raises(TopicExists):
            await store.tables.move_tables([creation(stage, "t", taken.name)])
        assert await store.tables.table(("a",), "t") is None
        await store.tables.move_tables([PointerMove(pointer=pointer("t"), expected_location=None)])
        with pytest.raises(TableExists):
            await store.tables.move_tables([creation(stage, "t", "new")])
        assert [topic.name for topic in (await store.topics()).topics] == [taken.name]

    stage.run(scenario)


def test_a_repeated_creation_makes_no_second_topic(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.create_namespace(("a",), {})
        receipt = RequestReceipt(key="k", request="r", answer="done")
        await store.tables.move_tables([creation(stage, "t", "t")], receipt=receipt)
        with pytest.raises(AnsweredBefore):
            await store.tables.move_tables([creation(stage, "u", "u")], receipt=receipt)
        assert [topic.name for topic in (await store.topics()).topics] == ["t"]

    stage.run(scenario)
