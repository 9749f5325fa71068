"""An ordinary table that becomes a topic's: its kind, the topic and the offsets of its files change together."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import TopicExists
from lakestream.model.place import Tail
from lakestream.model.table import PointerMove, TableKind, TablePointer
from lakestream.model.table_errors import CommitConflict
from lakestream.model.topic import TopicSpec
from tests.behaviour.metadata.stage import Stage
from tests.behaviour.tables.pointers import pointer
from tests.behaviour.tables.test_appended_files import appended, tail


async def ordinary(store: MetadataStore) -> TablePointer:
    table = pointer("t")
    await store.tables.create_namespace(("a",), {})
    await store.tables.move_tables([PointerMove(pointer=table, expected_location=None)])
    return table


def adoption(stage: Stage, table: TablePointer, *rows: int, topic: str = "t", partitions: int = 2) -> PointerMove:
    spec = TopicSpec(id=stage.ids.topic_id(), name=topic, partitions=partitions, config={})
    return PointerMove(
        pointer=replace(table, metadata_location="adopted", kind=TableKind.TOPIC, topic=spec.id),
        expected_location=table.metadata_location,
        new_topic=spec,
        appended=appended(*rows),
    )


def test_a_table_its_topic_and_the_offsets_of_its_files_change_together(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        move = adoption(stage, await ordinary(store), 5, 3, 1)
        await store.tables.move_tables([move])
        (topic,) = (await store.topics()).topics
        assert await store.tables.table(("a",), "t") == await store.tables.table_of_topic(topic.id) == move.pointer
        assert await store.jobs.topics_without_table() == []
        ends = [await tail(store, partition) for partition in topic.partitions]
        assert ends == [Tail(0, 5, 5), Tail(0, 4, 4)]
        assert len(await store.jobs.appended_spans(topic.id)) == 3

    stage.run(scenario)


def test_nothing_changes_if_the_topics_name_is_taken_or_the_table_is_another_by_now(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table = await ordinary(store)
        taken = await stage.topic(store)
        with pytest.raises(TopicExists):
            await store.tables.move_tables([adoption(stage, table, 5, topic=taken.name)])
        for other in (
            replace(table, metadata_location="elsewhere"),
            replace(table, name="renamed"),
            replace(table, namespace=("b",)),
        ):
            with pytest.raises(CommitConflict):
                await store.tables.move_tables([adoption(stage, other, 5)])
        assert await store.tables.table(("a",), "t") == table
        assert [topic.name for topic in (await store.topics()).topics] == [taken.name]

    stage.run(scenario)


def test_a_table_is_adopted_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        table = await ordinary(store)
        await store.tables.move_tables([adoption(stage, table, 5)])
        with pytest.raises(TopicExists):
            await store.tables.move_tables([adoption(stage, table, 5)])
        now = replace(table, metadata_location="adopted")
        with pytest.raises(CommitConflict):
            await store.tables.move_tables([adoption(stage, now, 5, topic="other")])
        (topic,) = (await store.topics()).topics
        assert len(await store.jobs.appended_spans(topic.id)) == 1

    stage.run(scenario)


def test_an_adopted_table_goes_the_way_of_its_topic(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await store.tables.move_tables([adoption(stage, await ordinary(store), 5)])
        (topic,) = (await store.topics()).topics
        await store.delete_topic(topic.id)
        kept = await store.tables.table(("a",), "t")
        assert kept is not None and (kept.kind, kept.topic) == (TableKind.KEPT, None)
        with pytest.raises(CommitConflict):
            await store.tables.move_tables([adoption(stage, kept, 5)])

    stage.run(scenario)
