"""What the log no longer needs of its table: files without a living record, and tables that go with their topics."""

from dataclasses import replace

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import ON_TOPIC_DELETE
from lakestream.model.job import TrimmedTopic
from lakestream.model.table import STREAMS, PointerMove, TableKind
from lakestream.model.table_errors import UnknownTable
from tests.behaviour.jobs.work import Work, set_up
from tests.behaviour.metadata.stage import Stage

GRACE_MS = 3_600_000


async def set_on_delete(store: MetadataStore, work: Work, value: str) -> None:
    edits = [ConfigEdit(ConfigOperation.SET, ON_TOPIC_DELETE, value)]
    await store.edit_topic_config(work.topic.id, edits, lambda config: None)


def test_a_file_lives_until_its_last_record_lies_below_the_start_of_the_log(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3)
        await work.compact(30, cuts=[10, 20])
        files = await store.jobs.living_files(work.topic.id)
        assert len(files) == 3
        assert await store.jobs.trimmed_topics() == []
        await store.delete_records(work.partition, 15)
        after = await store.jobs.living_files(work.topic.id)
        assert after < files
        assert len(after) == 2, "the second file still has records from the log's start on"
        assert await store.jobs.trimmed_topics() == [TrimmedTopic(work.topic.id, 15)]
        await store.delete_records(work.partition, 30)
        assert await store.jobs.living_files(work.topic.id) == frozenset()
        assert await store.jobs.trimmed_topics() == [TrimmedTopic(work.topic.id, 30)]

    stage.run(scenario)


def test_retention_waits_for_the_table_of_the_topic(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1, 2, 3)

        async def retain() -> int:
            return await store.apply_retention(work.partition, expired_before_ms=10, bytes_max=None, spans_max=100)

        assert await retain() == 0, "nothing of it is in the table yet"
        await work.compact(20, cuts=[10])
        assert await retain() == 2
        assert await work.shape() == [("wal", 20, 29)]

    stage.run(scenario)


def test_a_table_that_is_kept_is_an_ordinary_one_once_nobody_has_changed_it_for_long_enough(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        await set_on_delete(store, work, "keep")
        await store.delete_topic(work.topic.id)
        pointer = await store.tables.table(STREAMS, work.pointer.name)
        assert pointer is not None
        assert (pointer.id, pointer.kind, pointer.topic) == (work.pointer.id, TableKind.KEPT, None)
        assert await store.tables.table_with_id(work.pointer.id) == pointer
        assert await store.tables.dropped_tables(0, 10) == []
        assert not await store.tables.make_ordinary(pointer.id, GRACE_MS), "too early"
        stage.pass_time(GRACE_MS // 2)
        changed = PointerMove(
            pointer=replace(pointer, metadata_location="v9"), expected_location=work.pointer.metadata_location
        )
        await store.tables.move_tables([changed])
        stage.pass_time(GRACE_MS // 2 + 1)
        assert not await store.tables.make_ordinary(pointer.id, GRACE_MS), "someone has changed it since"
        assert pointer.id in await store.tables.table_ids([TableKind.KEPT])
        stage.pass_time(GRACE_MS // 2)
        assert await store.tables.make_ordinary(pointer.id, GRACE_MS)
        assert await store.tables.table(STREAMS, pointer.name) == replace(changed.pointer, kind=TableKind.ORDINARY)
        assert not await store.tables.make_ordinary(pointer.id, GRACE_MS), "it is one already"

    stage.run(scenario)


def test_a_table_that_goes_with_its_topic_gives_its_name_free_at_once_and_is_known_until_it_is_forgotten(
    stage: Stage,
) -> None:
    async def scenario(store: MetadataStore) -> None:
        work = await set_up(stage, store, 1)
        await work.compact(10)
        await set_on_delete(store, work, "drop")
        await store.delete_topic(work.topic.id)
        assert await store.tables.table(STREAMS, work.pointer.name) is None
        assert await store.tables.tables(STREAMS) == []
        assert await store.tables.dropped_tables(GRACE_MS, 10) == [], "not before its grace is over"
        assert await store.tables.dropped_tables(0, 10) == [work.pointer.id]
        await store.tables.drop_table(work.pointer.id)
        assert await store.tables.dropped_tables(0, 10) == []
        with pytest.raises(UnknownTable):
            await store.tables.drop_table(work.pointer.id)

    stage.run(scenario)
