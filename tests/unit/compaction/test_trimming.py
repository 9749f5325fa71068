"""What retention takes from the log leaves the table: out of both branches, and from disk after its grace."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import ON_TOPIC_DELETE
from lakestream.model.topic import Topic
from lakestream.storage.garbage.retention import apply_retention
from lakestream.table.pipeline import Pipeline
from lakestream.table.topic_tables import TopicTables
from lakestream.world.objects.memory import MemoryObjects
from tests.unit.compaction.site import NOW_MS, Site, rows, run

GRACE_MS = 3_600_000


async def with_config(site: Site, topic: Topic, config: Mapping[str, str]) -> None:
    edits = [ConfigEdit(ConfigOperation.SET, name, value) for name, value in config.items()]
    await site.store.edit_topic_config(topic.id, edits, lambda given: None)


async def written(site: Site, topic: Topic, pipeline: Pipeline, count: int = 3) -> list[str]:
    """A file of ten records for each, in every partition, the first the oldest. Returns the files' locations."""
    for at in range(count):
        for partition in topic.partitions:
            await site.produce(partition, rows(10, base=10 * at, timestamp_ms=NOW_MS + 1_000_000 * at))
        await site.round(pipeline)
    return list(reversed(await site.files(topic, "log")))


async def retain(site: Site, topic: Topic, *, before_ms: int) -> None:
    """Retention, with the clock where records from before this time are too old."""
    age_ms = await site.store.now_ms() - before_ms
    await with_config(site, topic, {"retention.ms": str(age_ms)})
    await apply_retention(site.store, (await site.store.topics()).topics)


def keys_of(site: Site, locations: list[str]) -> set[str]:
    return {TableObjects(site.objects).key_of(location) for location in locations}


def test_files_below_the_start_of_the_log_leave_both_branches_and_are_deleted_after_the_grace() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=GRACE_MS)
        files = await written(site, topic, pipeline)
        ledgers = {key for key in await site.keys("tables/") if key.endswith("ledger.json")}
        await retain(site, topic, before_ms=NOW_MS + 1_900_000)
        await pipeline.upkeep()
        for branch in ("log", "main"):
            assert [row["__offset"] for row in await site.table(topic, branch)] == list(range(20, 30))
        metadata = await site.metadata(topic)
        assert metadata["refs"]["log"]["snapshot-id"] == metadata["refs"]["main"]["snapshot-id"], "one for both"
        summary = metadata["snapshots"][-1]["summary"]
        sizes = [len(await site.objects.get(key)) for key in sorted(keys_of(site, files[:2]))]
        assert {
            "operation": "delete",
            "deleted-data-files": "2",
            "deleted-records": "20",
            "removed-files-size": str(sum(sizes)),
            "total-data-files": "1",
            "total-records": "10",
        }.items() <= summary.items()
        assert keys_of(site, files) <= await site.keys(), "readers may still be in them"
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(20, 30))

        await pipeline.upkeep()
        assert keys_of(site, files) <= await site.keys()
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.upkeep()
        left = await site.keys("tables/")
        assert keys_of(site, files) & left == keys_of(site, files[2:])
        kept = {key for key in ledgers if key.split("/")[2] in files[2]}
        assert len(kept) == 1
        assert left == await site.referred(topic) | kept, "nothing is left behind, and nothing is missing"
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(20, 30))

    run(scenario)


def test_a_file_stays_while_a_partition_still_has_records_in_it() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        pipeline = site.pipeline(grace_ms=0)
        files = await written(site, topic, pipeline)
        assert len(files) == 3
        await site.store.delete_records(topic.partitions[0], 30)
        await pipeline.upkeep()
        assert len(await site.files(topic, "log")) == 3
        await site.store.delete_records(topic.partitions[1], 15)
        await pipeline.upkeep()
        assert sorted(await site.files(topic, "log")) == sorted(files[1:])

    run(scenario)


def test_main_keeps_what_others_made_of_it_and_loses_the_files_that_it_shares_with_the_log() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=0)
        await TopicTables(site.store, site.commits()).make_missing()
        await site.stranger_changes_main(topic)
        files = await written(site, topic, pipeline)
        await site.store.delete_records(topic.partitions[0], 10)
        await pipeline.upkeep()
        metadata = await site.metadata(topic)
        assert metadata["refs"]["log"]["snapshot-id"] != metadata["refs"]["main"]["snapshot-id"]
        for branch in ("log", "main"):
            assert sorted(await site.files(topic, branch)) == sorted(files[1:])

    run(scenario)


def test_a_log_that_was_never_cut_costs_no_commit_and_one_that_was_costs_none_afterwards() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=0)
        await written(site, topic, pipeline)

        async def location() -> str:
            pointer = await site.store.tables.table_of_topic(topic.id)
            assert pointer is not None
            return pointer.metadata_location

        before = await location()
        await pipeline.upkeep()
        assert await location() == before
        await site.store.delete_records(topic.partitions[0], 10)
        for _ in range(2):
            await pipeline.upkeep()
        after = await location()
        await pipeline.upkeep()
        assert await location() == after != before

    run(scenario)


def test_an_emptied_log_fills_again() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=0)
        await written(site, topic, pipeline)
        await site.store.delete_records(topic.partitions[0], 30)
        await pipeline.upkeep()
        assert await site.table(topic) == []
        await site.produce(topic.partitions[0], rows(10, base=30))
        await site.round(pipeline)
        await pipeline.upkeep()
        assert [row["__offset"] for row in await site.table(topic)] == list(range(30, 40))
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(30, 40))
        assert await site.keys("tables/") == await site.referred(topic)

    run(scenario)


def test_what_a_crash_leaves_of_an_expiry_is_found_later() -> None:
    class Dying(MemoryObjects):
        """The process dies instead of deleting data."""

        async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
            if any(key.endswith(".parquet") for key in keys):
                raise asyncio.CancelledError
            await super().delete(keys, unused_folders=unused_folders)

    async def scenario(site: Site) -> None:
        topic = await site.topic()
        files = await written(site, topic, site.pipeline(grace_ms=0))
        await site.store.delete_records(topic.partitions[0], 20)
        alive, site.objects.__class__ = site.objects.__class__, Dying
        with pytest.raises(asyncio.CancelledError):
            await site.pipeline(grace_ms=0).upkeep()
        site.objects.__class__ = alive
        assert keys_of(site, files) <= await site.keys()
        assert not keys_of(site, files[:2]) & await site.referred(topic), "the table has moved on"
        pipeline = site.pipeline(grace_ms=0)
        await pipeline.sweep()
        assert keys_of(site, files) <= await site.keys(), "a job that young may be under way"
        site.clock.ahead_ms += 25 * 3_600_000
        await site.pipeline(grace_ms=0).sweep()
        left = await site.keys("tables/")
        assert keys_of(site, files) & left == keys_of(site, files[2:])
        assert len([key for key in left if key.endswith("ledger.json")]) == 1
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(20, 30))

    run(scenario)


@pytest.mark.parametrize("on_delete", ["keep", "drop"])
def test_a_table_goes_with_its_topic_only_if_it_was_told_to(on_delete: str) -> None:
    async def scenario(site: Site) -> None:
        topic, other = await site.topic("orders"), await site.topic("others")
        await with_config(site, topic, {ON_TOPIC_DELETE: on_delete})
        pipeline = site.pipeline(grace_ms=GRACE_MS)
        await written(site, topic, pipeline)
        await written(site, other, pipeline)
        files = await site.referred(topic)
        await site.store.delete_topic(topic.id)
        await pipeline.upkeep()
        assert files <= await site.keys(), "not before the grace is over"
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.upkeep()
        left = await site.keys("tables/")
        assert left == await site.referred(other) | (files if on_delete == "keep" else set())
        again = await site.topic("orders")
        await site.produce(again.partitions[0], rows(5))
        await site.round(pipeline)
        assert len(await site.table(again)) == 5

    run(scenario)
