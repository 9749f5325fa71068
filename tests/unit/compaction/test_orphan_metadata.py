"""What dead commits left behind goes, and nothing that a living one has written."""

import pytest

from lakestream.catalog.commits.rolling import FAN_IN
from lakestream.catalog.files.locations import TableObjects
from lakestream.model.table_errors import CommitConflict
from lakestream.table.upkeep.orphan_data import OrphanData
from lakestream.table.upkeep.orphan_metadata import TABLES_AT_ONCE, OrphanMetadata
from tests.unit.compaction.site import Site, rows, run

GRACE_MS = 3_600_000


def orphan_metadata(site: Site) -> OrphanMetadata:
    locations, commits = TableObjects(site.objects), site.commits()
    orphan_data = OrphanData(site.store, locations, commits, site.clock)
    return OrphanMetadata(site.store, locations, commits, orphan_data, site.clock, grace_ms=GRACE_MS)


def test_what_a_commit_under_way_has_written_stays_until_the_table_moves_on() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.produce(topic.partitions[0], rows(5))
        await site.round()
        pointer = await site.store.tables.table_of_topic(topic.id)
        assert pointer is not None
        under_way = await site.commits().append(pointer, {"main": ()}, summary={})
        sweeping = orphan_metadata(site)
        await sweeping.sweep()
        written = await site.keys("tables/") - await site.referred(topic)
        assert len(written) == 2, "manifest list and metadata file of the commit under way"
        await site.produce(topic.partitions[0], rows(5, base=5))
        await site.round()  # someone else was faster: what is under way can no longer be committed
        await sweeping.sweep()
        assert await site.keys("tables/") == await site.referred(topic)
        assert under_way.move.expected_location == pointer.metadata_location

    run(scenario)


def test_what_was_rolled_ahead_for_a_version_that_someone_else_made_is_not_used_and_goes() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline()

        async def commit(number: int) -> None:
            await site.produce(topic.partitions[0], rows(1, base=number))
            await site.round(pipeline)

        for number in range(FAN_IN):
            await commit(number)
        ahead = await site.keys("tables/") - await site.referred(topic)
        assert len(ahead) == 1, "the manifest that the next commit would name"
        await site.stranger_changes_main(topic)  # reaches the version for which it was made
        await commit(FAN_IN)
        assert not ahead & await site.referred(topic)
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(FAN_IN + 1))
        await orphan_metadata(site).sweep()
        assert await site.keys("tables/") == await site.referred(topic)

    run(scenario)


def test_what_was_rolled_ahead_for_a_table_that_stays_idle_goes_when_its_grace_is_over() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=GRACE_MS)
        for number in range(FAN_IN):
            await site.produce(topic.partitions[0], rows(1, base=number))
            await site.round(pipeline)
        assert len(ahead := await site.keys("tables/") - await site.referred(topic)) == 1
        await pipeline.sweep()
        assert await site.keys("tables/") - await site.referred(topic) == ahead, "the next commit may come at any time"
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.sweep()
        assert await site.keys("tables/") == await site.referred(topic)
        moved = await site.store.tables.table_of_topic(topic.id)
        await pipeline.sweep()
        assert await site.store.tables.table_of_topic(topic.id) == moved, "once, and not again and again"
        await site.produce(topic.partitions[0], rows(1, base=FAN_IN))
        await site.round(pipeline)
        assert not ahead & await site.referred(topic), "this pipeline had it in mind"
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(FAN_IN + 1))
        assert len(await site.table(topic)) == FAN_IN + 1

    run(scenario)


def test_a_committer_that_slept_past_the_grace_finds_that_its_version_was_passed() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.produce(topic.partitions[0], rows(5))
        await site.round()
        pointer = await site.store.tables.table_of_topic(topic.id)
        assert pointer is not None
        asleep = await site.commits().append(pointer, {"main": ()}, summary={})
        site.clock.ahead_ms += GRACE_MS + 1
        await orphan_metadata(site).sweep()
        assert await site.keys("tables/") == await site.referred(topic)
        with pytest.raises(CommitConflict):
            await site.store.tables.move_tables([asleep.move])

    run(scenario)


def test_topics_take_turns_and_one_that_is_damaged_hinders_no_other() -> None:
    async def scenario(site: Site) -> None:
        topics = [await site.topic(f"t{number:03d}") for number in range(TABLES_AT_ONCE + 5)]
        await site.round()
        locations = TableObjects(site.objects)
        strays = set()
        for topic in topics:
            pointer = await site.store.tables.table_of_topic(topic.id)
            assert pointer is not None
            stray = f"{locations.commits_folder(pointer.id)}/00000-dead-m0.avro"
            await locations.write(stray, b"")
            strays.add(locations.key_of(stray))
        first = await site.store.tables.table_of_topic(topics[0].id)
        assert first is not None
        await locations.delete([first.metadata_location])
        sweeping = orphan_metadata(site)
        await sweeping.sweep()
        left = strays & await site.keys("tables/")
        assert len(left) == 5 + 1
        await sweeping.sweep()
        assert len(strays & await site.keys("tables/")) == 1, "only the damaged table's"

    run(scenario)
