"""`lakestream.table.namespace`: where a topic's table is in the catalog, from the start or later."""

import pytest

from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import TABLE_NAMESPACE, check_topic_config
from lakestream.model.errors import InvalidTopicConfig
from lakestream.model.table import STREAMS, TablePointer
from lakestream.model.topic import Topic
from tests.unit.compaction.site import Site, rows, run


async def want(site: Site, topic: Topic, namespace: str | None) -> None:
    operation = ConfigOperation.DELETE if namespace is None else ConfigOperation.SET
    edits = [ConfigEdit(operation, TABLE_NAMESPACE, namespace)]
    await site.store.edit_topic_config(topic.id, edits, check_topic_config)


async def pointer_of(site: Site, topic: Topic) -> TablePointer:
    pointer = await site.store.tables.table_of_topic(topic.id)
    assert pointer is not None
    return pointer


def test_a_table_is_made_in_the_namespace_of_its_topic_and_moves_when_that_changes() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic("shop.orders"), site.pipeline()
        await want(site, topic, "sales.eu")
        await site.produce(topic.partitions[0], rows(5))
        await site.round(pipeline)
        made = await pointer_of(site, topic)
        assert (made.namespace, made.name) == (("sales", "eu"), "shop_orders")
        await want(site, topic, "archive")
        await site.produce(topic.partitions[0], rows(5, base=5))
        await site.round(pipeline)
        moved = await pointer_of(site, topic)
        assert (moved.id, moved.namespace, moved.name) == (made.id, ("archive",), "shop_orders")
        assert await site.store.tables.tables(("sales", "eu")) == []
        assert len(await site.table(topic)) == 10
        await want(site, topic, None)
        await site.round(pipeline)
        assert (await pointer_of(site, topic)).namespace == ("archive",), "nobody said where else"

    run(scenario)


def test_a_name_that_is_taken_there_is_not_taken_again() -> None:
    async def scenario(site: Site) -> None:
        first, second = await site.topic("a.b"), await site.topic("a-b")
        pipeline = site.pipeline()
        await want(site, first, "one")
        await want(site, second, "two")
        await site.round(pipeline)
        assert (await pointer_of(site, first)).name == (await pointer_of(site, second)).name == "a_b"
        await want(site, second, "one")
        await site.round(pipeline)
        both = {(await pointer_of(site, topic)).name for topic in (first, second)}
        assert both == {"a_b", "a_b_2"}

    run(scenario)


def test_without_a_word_tables_are_among_the_streams() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.round()
        assert (await pointer_of(site, topic)).namespace == STREAMS

    run(scenario)


@pytest.mark.parametrize("wrong", ["", "Sales", "a..b", ".a", "a.", "a/b", "a b", "ä", "x" * 65])
def test_what_is_no_namespace_is_refused(wrong: str) -> None:
    with pytest.raises(InvalidTopicConfig):
        check_topic_config({TABLE_NAMESPACE: wrong})
