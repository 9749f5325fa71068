"""Topics: created, grown, configured and deleted."""

import asyncio
from collections.abc import Mapping

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.errors import InvalidPartitionCount, InvalidTopicConfig, TopicExists, UnknownTopicId
from lakestream.model.place import Tail
from lakestream.model.segment import BatchStatus
from lakestream.model.topic import TopicSpec
from tests.behaviour.metadata.stage import Stage, batch, laid_out, results_of

MISSING = bytes(16)


def accept(config: Mapping[str, str]) -> None:
    pass


def test_a_created_topic_is_listed_as_it_was_made(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert (await store.topics()).topics == ()
        config = {"retention.ms": "1000", "ключ": "значение"}
        spec = TopicSpec(id=stage.ids.topic_id(), name="orders", partitions=3, config=config)
        topic = await store.create_topic(spec)
        assert (topic.id, topic.name, topic.config) == (spec.id, "orders", config)
        assert len(set(topic.partitions)) == 3
        assert abs(topic.created_ms - stage.clock.wall_ms()) < 60_000
        assert (await store.topics()).topics == (topic,)

    stage.run(scenario)


def test_partitions_of_a_new_topic_are_empty(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 2)
        sizes = await store.tails(topic.partitions)
        assert {(size.tail, size.bytes) for size in sizes.values()} == {(Tail(0, 0, 0), 0)}
        assert set(sizes) == set(topic.partitions)

    stage.run(scenario)


def test_topics_are_listed_by_name(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        for name in ("b", "B", "a-1", "a"):
            await store.create_topic(TopicSpec(id=stage.ids.topic_id(), name=name, partitions=1))
        assert [topic.name for topic in (await store.topics()).topics] == ["B", "a", "a-1", "b"]

    stage.run(scenario)


def test_a_name_is_taken_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        specs = [TopicSpec(id=stage.ids.topic_id(), name="orders", partitions=1) for _ in range(6)]
        made = await asyncio.gather(*map(store.create_topic, specs), return_exceptions=True)
        assert sum(isinstance(one, TopicExists) for one in made) == 5
        assert len((await store.topics()).topics) == 1

    stage.run(scenario)


def test_a_topic_without_partitions_is_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(InvalidPartitionCount):
            await stage.topic(store, 0)

    stage.run(scenario)


def test_every_change_raises_the_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        seen = [await store.topics_version()]
        topic = await stage.topic(store)
        seen.append(await store.topics_version())
        await store.add_partitions(topic.id, 2)
        seen.append(await store.topics_version())
        await store.edit_topic_config(topic.id, [ConfigEdit(ConfigOperation.SET, "a", "1")], accept)
        seen.append((await store.topics()).version)
        await store.delete_topic(topic.id)
        seen.append((await store.topics()).version)
        assert seen == sorted(set(seen))

    stage.run(scenario)


def test_a_refused_change_leaves_the_version(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        version = await store.topics_version()
        with pytest.raises(UnknownTopicId):
            await store.delete_topic(MISSING)
        assert await store.topics_version() == version

    stage.run(scenario)


def test_partitions_are_added_behind_those_there(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 2)
        grown = await store.add_partitions(topic.id, 5)
        assert grown.partitions[:2] == topic.partitions
        assert len(set(grown.partitions)) == 5
        assert (await store.topics()).topics == (grown,)

    stage.run(scenario)


@pytest.mark.parametrize("total", [1, 2])
def test_partitions_never_get_fewer(stage: Stage, total: int) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 2)
        with pytest.raises(InvalidPartitionCount):
            await store.add_partitions(topic.id, total)
        assert (await store.topics()).topics == (topic,)

    stage.run(scenario)


def test_what_does_not_exist_cannot_be_changed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(UnknownTopicId):
            await store.add_partitions(MISSING, 2)
        with pytest.raises(UnknownTopicId):
            await store.edit_topic_config(MISSING, [], accept)
        with pytest.raises(UnknownTopicId):
            await store.delete_topic(MISSING)

    stage.run(scenario)


def test_administrators_do_not_lose_each_others_edits(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        edits = [ConfigEdit(ConfigOperation.APPEND, "list", str(i)) for i in range(8)]
        await asyncio.gather(*(store.edit_topic_config(topic.id, [edit], accept) for edit in edits))
        (edited,) = (await store.topics()).topics
        assert set(edited.config["list"].split(",")) == set("01234567")

    stage.run(scenario)


def test_a_refused_edit_changes_nothing(stage: Stage) -> None:
    def refuse(config: Mapping[str, str]) -> None:
        raise InvalidTopicConfig(f"no {config['a']}")

    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        with pytest.raises(InvalidTopicConfig, match="no 1"):
            await store.edit_topic_config(topic.id, [ConfigEdit(ConfigOperation.SET, "a", "1")], refuse)
        assert (await store.topics()).topics == (topic,)

    stage.run(scenario)


def test_a_deleted_topic_leaves_nothing_but_dead_segments(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        doomed, other = await stage.topic(store, 2), await stage.topic(store)
        batches = laid_out(batch(doomed.partitions[0]), batch(doomed.partitions[1]), batch(other.partitions[0]))
        shared = stage.commit(lease, *batches)
        alone = stage.commit(lease, batch(doomed.partitions[0], producer=(5, 0, 0)))
        await store.commit_segment(shared)
        await store.commit_segment(alone)
        await store.delete_topic(doomed.id)
        stage.pass_time(1_000)
        assert await store.tails(doomed.partitions) == {}
        assert (await store.topics()).topics == (other,)
        assert await store.deletable_segments(100, 10) == [alone.segment]
        await store.delete_topic(other.id)
        stage.pass_time(1_000)
        assert set(await store.deletable_segments(100, 10)) == {alone.segment, shared.segment}

    stage.run(scenario)


def test_a_batch_for_a_deleted_topic_is_refused_and_the_others_are_stored(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        lease = await stage.broker(store)
        gone, there = await stage.topic(store), await stage.topic(store)
        await store.delete_topic(gone.id)
        batches = laid_out(batch(gone.partitions[0]), batch(there.partitions[0]))
        results = results_of(await store.commit_segment(stage.commit(lease, *batches)))
        assert results == ((BatchStatus.UNKNOWN_PARTITION, -1, -1, -1), (BatchStatus.STORED, 0, -1, 0))

    stage.run(scenario)


def test_partition_numbers_are_never_reused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first = await stage.topic(store, 3)
        await store.delete_topic(first.id)
        assert not set(first.partitions) & set((await stage.topic(store, 3)).partitions)

    stage.run(scenario)
