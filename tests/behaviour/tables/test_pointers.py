"""Tables: pointers that move together or not at all."""

import asyncio
from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.metadata.table_store import TableName
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import TABLE_ENABLE, check_topic_config
from lakestream.model.errors import UnknownTopicId
from lakestream.model.table import PointerMove, TableKind, TablePointer
from lakestream.model.table_errors import CommitConflict, TableExists, UnknownNamespace, UnknownTable
from lakestream.model.topic import TopicSpec
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.tables.pointers import pointer


def created(table: TablePointer) -> PointerMove:
    return PointerMove(pointer=table, expected_location=None)


def moved(table: TablePointer, to: str) -> PointerMove:
    return PointerMove(pointer=replace(table, metadata_location=to), expected_location=table.metadata_location)


async def with_namespace(store: MetadataStore, *tables: TablePointer) -> None:
    await store.tables.create_namespace(("a",), {})
    await store.tables.move_tables([created(table) for table in tables])


def test_a_table_is_found_as_it_was_made(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = (await stage.topic(store)).id
        ordinary, of_topic = pointer("t"), pointer("s", kind=TableKind.TOPIC, topic=topic)
        await with_namespace(store, ordinary, of_topic)
        assert await store.tables.table(("a",), "t") == ordinary
        assert await store.tables.table(("a",), "s") == of_topic
        assert await store.tables.table_of_topic(topic) == of_topic
        assert await store.tables.table(("a",), "T") is None
        assert await store.tables.table_of_topic(bytes(16)) is None

    stage.run(scenario)


def test_tables_are_found_by_their_ids_and_those_by_kind(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        ordinary, view = pointer("t"), pointer("v", kind=TableKind.VIEW)
        topics = [await stage.topic(store) for _ in range(2)]
        of_topics = [pointer(f"of-{topic.name}", kind=TableKind.TOPIC, topic=topic.id) for topic in topics]
        await with_namespace(store, ordinary, view, *of_topics)
        assert await store.tables.table_with_id(ordinary.id) == ordinary
        assert await store.tables.table_with_id(of_topics[0].id) == of_topics[0]
        assert await store.tables.table_with_id(pointer("t").id) is None
        ids = sorted(one.id for one in of_topics)
        assert await store.tables.table_ids([TableKind.TOPIC]) == ids
        assert await store.tables.table_ids([TableKind.TOPIC, TableKind.VIEW]) == sorted([*ids, view.id])
        assert await store.tables.table_ids([TableKind.KEPT]) == await store.tables.table_ids([]) == []

    stage.run(scenario)


def test_tables_and_views_are_listed_by_name(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_namespace(store, pointer("b"), pointer("a", kind=TableKind.VIEW), pointer("B"))
        assert await store.tables.tables(("a",)) == [
            TableName("B", TableKind.ORDINARY),
            TableName("a", TableKind.VIEW),
            TableName("b", TableKind.ORDINARY),
        ]

    stage.run(scenario)


def test_a_table_is_listed_unless_the_config_of_its_topic_says_otherwise(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        spec = TopicSpec(id=stage.ids.topic_id(), name="s", partitions=1, config={TABLE_ENABLE: "false"})
        topic = await store.create_topic(spec)
        hidden = pointer("s", kind=TableKind.TOPIC, topic=topic.id)
        await with_namespace(store, pointer("t"), hidden)
        for enable, listed in (("false", False), ("true", True), ("false", False)):
            edits = [ConfigEdit(ConfigOperation.SET, TABLE_ENABLE, enable)]
            await store.edit_topic_config(topic.id, edits, check_topic_config)
            assert await store.tables.table(("a",), "s") == replace(hidden, listed=listed)
            assert await store.tables.table_of_topic(topic.id) == replace(hidden, listed=listed)
            assert [(one.name, one.listed) for one in await store.tables.tables(("a",))] == [("s", listed), ("t", True)]

    stage.run(scenario)


def test_a_table_needs_its_namespace(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(UnknownNamespace):
            await store.tables.move_tables([created(pointer("t", namespace=("nowhere",)))])

    stage.run(scenario)


def test_of_many_who_create_a_table_one_does(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_namespace(store)
        made = await asyncio.gather(
            *(store.tables.move_tables([created(pointer("t"))]) for _ in range(6)), return_exceptions=True
        )
        assert sum(isinstance(one, TableExists) for one in made) == 5

    stage.run(scenario)


def test_of_many_who_commit_to_a_table_one_does(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table = pointer("t")
        await with_namespace(store, table)
        outcomes = await asyncio.gather(
            *(store.tables.move_tables([moved(table, f"file:///v{n}")]) for n in range(1, 7)), return_exceptions=True
        )
        assert sum(isinstance(one, CommitConflict) for one in outcomes) == 5
        (winner,) = (n for n, one in enumerate(outcomes, start=1) if one is None)
        found = await store.tables.table(("a",), "t")
        assert found is not None and found.metadata_location == f"file:///v{winner}"

    stage.run(scenario)


def test_several_tables_move_together_or_not_at_all(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second, new = pointer("t1"), pointer("t2"), pointer("t3")
        await with_namespace(store, first, second)
        stale = replace(second, metadata_location="file:///older")
        with pytest.raises(CommitConflict):
            await store.tables.move_tables([moved(first, "file:///v1"), created(new), moved(stale, "file:///v1")])
        assert await store.tables.table(("a",), "t1") == first
        assert await store.tables.table(("a",), "t3") is None
        await store.tables.move_tables([moved(first, "file:///v1"), created(new), moved(second, "file:///v1")])
        locations = [await store.tables.table(("a",), name) for name in ("t1", "t2", "t3")]
        assert [one and one.metadata_location for one in locations] == ["file:///v1", "file:///v1", "file:///v0"]

    stage.run(scenario)


def test_commits_to_the_same_tables_in_either_order_do_not_block_each_other(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first, second = pointer("t1"), pointer("t2")
        await with_namespace(store, first, second)
        there = [moved(first, "file:///x"), moved(second, "file:///x")]
        back = [moved(second, "file:///y"), moved(first, "file:///y")]
        outcomes = await asyncio.gather(
            *(store.tables.move_tables(moves) for moves in [there, back] * 4), return_exceptions=True
        )
        assert sum(one is None for one in outcomes) == 1
        assert all(one is None or isinstance(one, CommitConflict) for one in outcomes)

    stage.run(scenario)


def test_a_renamed_table_is_the_same_table(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table = pointer("t")
        await with_namespace(store, table, pointer("taken"))
        await store.tables.create_namespace(("b",), {})
        await store.tables.rename_table(table.id, ("b",), "u")
        assert await store.tables.table(("a",), "t") is None
        assert await store.tables.table(("b",), "u") == replace(table, namespace=("b",), name="u")
        await store.tables.move_tables([moved(table, "file:///v1")])  # planned before the rename, and still right
        with pytest.raises(TableExists):
            await store.tables.rename_table(table.id, ("a",), "taken")
        with pytest.raises(UnknownNamespace):
            await store.tables.rename_table(table.id, ("c",), "u")
        with pytest.raises(UnknownTable):
            await store.tables.rename_table(pointer("x").id, ("a",), "fresh")

    stage.run(scenario)


def test_a_dropped_table_is_gone_and_its_commits_fail(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table = pointer("t")
        await with_namespace(store, table)
        await store.tables.drop_table(table.id)
        assert await store.tables.tables(("a",)) == []
        with pytest.raises(CommitConflict):
            await store.tables.move_tables([moved(table, "file:///v1")])
        with pytest.raises(UnknownTable):
            await store.tables.drop_table(table.id)

    stage.run(scenario)


def test_a_table_is_replaced_only_where_it_was_read(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table, other = pointer("t"), pointer("t", location="file:///other")
        await with_namespace(store, table)
        with pytest.raises(CommitConflict):
            await store.tables.replace_table(replace(table, metadata_location="file:///older"), other)
        await store.tables.replace_table(table, other)
        assert await store.tables.table(("a",), "t") == other

    stage.run(scenario)


def test_a_topic_has_one_table(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = (await stage.topic(store)).id
        await with_namespace(store, pointer("t", kind=TableKind.TOPIC, topic=topic))
        with pytest.raises(TableExists):
            await store.tables.move_tables([created(pointer("u", kind=TableKind.TOPIC, topic=topic))])

    stage.run(scenario)


def test_a_topic_that_is_gone_gets_no_table(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await with_namespace(store)
        topics = [await stage.topic(store) for _ in range(8)]
        tables = [pointer(topic.name, kind=TableKind.TOPIC, topic=topic.id) for topic in topics]
        await store.delete_topic(topics[0].id)
        with pytest.raises(UnknownTopicId):
            await store.tables.move_tables([created(tables[0])])
        making = (store.tables.move_tables([created(table)]) for table in tables[1:])
        deleting = (store.delete_topic(topic.id) for topic in topics[1:])
        outcomes = await asyncio.gather(
            *(one for pair in zip(making, deleting, strict=True) for one in pair), return_exceptions=True
        )
        assert {type(one) for one in outcomes} <= {type(None), UnknownTopicId}
        made = {table.id for table, outcome in zip(tables[1:], outcomes[::2], strict=True) if outcome is None}
        assert await store.tables.table_ids([TableKind.TOPIC]) == []
        assert set(await store.tables.table_ids([TableKind.KEPT])) == made, "made before, and let go of then"

    stage.run(scenario)
