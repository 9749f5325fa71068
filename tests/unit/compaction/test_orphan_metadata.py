"""What dead commits left behind goes, and nothing that a living one has written."""

import pytest

from lakestream.catalog.commits.rolling import FAN_IN
from lakestream.catalog.files.locations import TableObjects
from lakestream.model.job import JobCommit
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


def test_a_commit_that_rolls_manifests_and_is_outrun_is_made_anew_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline()
        commit_job, outrun = site.store.jobs.commit_job, []

        async def after_a_stranger(commit: JobCommit) -> str:
            if len(outrun) < 1:
                outrun.append(commit.job)
                await site.stranger_changes_main(topic)
            return await commit_job(commit)

        for number in range(FAN_IN + 1):
            if number == FAN_IN:  # this commit rolls those before it
                monkeypatch.setattr(site.store.jobs, "commit_job", after_a_stranger)
            await site.produce(topic.partitions[0], rows(1, base=number))
            await site.round(pipeline)
        assert len(outrun) == 1
        assert await site.keys("tables/") == await site.referred(topic)
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(FAN_IN + 1))

    run(scenario)


def test_what_a_killed_commit_left_in_an_idle_table_goes_when_its_grace_is_over() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(grace_ms=GRACE_MS)
        await site.produce(topic.partitions[0], rows(1))
        await site.round(pipeline)
        await site.commits().append(await site.pointer(topic), {"main": ()}, summary={})
        assert len(left := await site.keys("tables/") - await site.referred(topic)) == 2
        await pipeline.sweep()
        assert await site.keys("tables/") - await site.referred(topic) == left, "its commit may come at any time"
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.sweep()
        assert await site.keys("tables/") == await site.referred(topic)
        moved = await site.pointer(topic)
        await pipeline.sweep()
        assert await site.pointer(topic) == moved, "once, and not again and again"
        await site.produce(topic.partitions[0], rows(1, base=1))
        await site.round(pipeline)
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == [0, 1]
        assert len(await site.table(topic)) == 2

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
