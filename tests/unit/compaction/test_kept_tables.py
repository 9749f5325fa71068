"""A table that outlives its topic: what the topic's commits and jobs left there goes, then it is like any other."""

from collections.abc import Sequence

import pytest

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.requests import TableChange
from lakestream.catalog.spec.values import Json
from lakestream.model.table import STREAMS, PointerMove, TableKind
from lakestream.model.table_errors import CommitConflict
from lakestream.model.topic import Topic
from lakestream.table.pipeline import Pipeline
from lakestream.table.upkeep.orphan_data import DAY_SECONDS
from tests.unit.compaction.breaking import Fate, Killed, MortalObjects, MortalVerbs
from tests.unit.compaction.site import Site, rows, run

GRACE_MS = 3_600_000
NAME = "orders"
COMMITS = 4


def pipeline_of(site: Site) -> Pipeline:
    return site.pipeline(grace_ms=GRACE_MS)


async def kept(site: Site, pipeline: Pipeline) -> Topic:
    """A topic that was deleted while a commit to its table was under way: the committer was killed."""
    topic = await site.topic(NAME)
    for number in range(COMMITS):
        await site.produce(topic.partitions[0], rows(1, base=number))
        await site.round(pipeline)
    await site.commits().pass_version(await site.pointer(topic))
    await site.store.delete_topic(topic.id)
    assert len(await left(site, topic)) == 1
    return topic


async def left(site: Site, topic: Topic) -> set[str]:
    """What lies in the table's folders and nothing leads to."""
    return await site.keys("tables/") - await site.referred(topic)


async def offsets(site: Site, topic: Topic) -> list[int]:
    return [row["__offset"] for row in await site.table(topic)]


def gateway(site: Site) -> TableCatalog:
    locations = TableObjects(site.objects)
    files = MetadataFiles(locations, ids=site.ids)
    return TableCatalog(
        store=site.store.tables,
        objects=locations,
        files=files,
        clock=site.clock,
        ids=site.ids,
        delete_topic=site.store.delete_topic,
    )


async def commit(site: Site, *updates: Json) -> None:
    """By a stranger."""
    await gateway(site).commit([TableChange(namespace=STREAMS, name=NAME, requirements=[], updates=[*updates])])


def setting(key: str, value: str) -> Json:
    return {"action": "set-properties", "updates": {key: value}}


def test_a_topic_that_is_deleted_while_its_table_is_made_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(NAME)
        move_tables = site.store.tables.move_tables

        async def after_the_topic_went(moves: Sequence[PointerMove]) -> None:
            await site.store.delete_topic(topic.id)
            await move_tables(moves)

        with monkeypatch.context() as patch:
            patch.setattr(site.store.tables, "move_tables", after_the_topic_went)
            assert (await site.round()).was_idle
        assert await site.store.tables.tables(STREAMS) == []
        assert await site.keys("tables/") == set()
        await site.topic(NAME)
        await site.round()
        assert [table.name for table in await site.store.tables.tables(STREAMS)] == [NAME], "the name is free"

    run(scenario)


def test_what_a_killed_commit_left_goes_when_the_grace_is_over_and_then_the_table_is_left_alone() -> None:
    async def scenario(site: Site) -> None:
        pipeline = pipeline_of(site)
        topic = await kept(site, pipeline)
        under_way = await left(site, topic)
        await pipeline.sweep()
        assert await left(site, topic) == under_way, "its writer may only be slow"
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.sweep()
        assert await left(site, topic) == set()
        assert await offsets(site, topic) == list(range(COMMITS))
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.sweep()
        pointer = await site.pointer(topic)
        assert pointer.kind is TableKind.ORDINARY
        stray = f"{TableObjects(site.objects).commits_folder(pointer.id)}/00000-theirs-m0.avro"
        await TableObjects(site.objects).write(stray, b"")
        await pipeline.sweep()
        assert len(await left(site, topic)) == 1, "what lies there now is its owner's"
        assert await site.pointer(topic) == pointer

    run(scenario)


def test_a_table_that_was_looked_at_before_its_topic_went_is_looked_at_again() -> None:
    async def scenario(site: Site) -> None:
        pipeline = pipeline_of(site)
        topic = await site.topic(NAME)
        await site.produce(topic.partitions[0], rows(5))
        await site.round(pipeline)
        await pipeline.sweep()
        await site.store.delete_topic(topic.id)
        under_way = await site.commits().pass_version(await site.pointer(topic))  # a gateway that was killed
        assert len(await left(site, topic)) == 1
        for _ in range(2):
            site.clock.ahead_ms += GRACE_MS + 1
            await pipeline.sweep()
        assert (await site.pointer(topic)).kind is TableKind.ORDINARY
        assert await left(site, topic) == set()
        with pytest.raises(CommitConflict):
            await site.store.tables.move_tables([under_way.move])

    run(scenario)


def test_a_stranger_who_writes_at_once_reaches_the_version_and_what_was_left_goes_without_a_grace() -> None:
    async def scenario(site: Site) -> None:
        pipeline = pipeline_of(site)
        topic = await kept(site, pipeline)
        await commit(site, setting("owner", "them"))
        assert "-log/" not in (await site.pointer(topic)).metadata_location, "it is written like any other table"
        await pipeline.sweep()
        assert await left(site, topic) == set()
        for minute in range(3):  # never idle for a grace
            site.clock.ahead_ms += GRACE_MS - 1
            await commit(site, setting("minute", str(minute)))
            await pipeline.sweep()
        assert await left(site, topic) == set()
        assert await offsets(site, topic) == list(range(COMMITS))
        await gateway(site).drop(STREAMS, NAME, purge=True)
        assert await site.keys("tables/") == set()
        await pipeline.sweep()

    run(scenario)


def test_what_jobs_left_goes_too_unless_others_use_the_data_as_well() -> None:
    async def scenario(site: Site) -> None:
        pipeline = pipeline_of(site)
        topic = await kept(site, pipeline)
        (some, *_) = await site.files(topic)
        key = TableObjects(site.objects).key_of(some)
        stray = f"{key.rpartition('/')[0]}/00009-late.parquet"  # a worker that was given up
        await site.objects.put(stray, [b"late"])
        await commit(site, setting("gc.enabled", "false"))
        await pipeline.sweep()
        assert await left(site, topic) == {stray}
        await commit(site, setting("gc.enabled", "true"))
        await pipeline.sweep()
        assert await left(site, topic) == set()
        assert await offsets(site, topic) == list(range(COMMITS))

    run(scenario)


def test_files_of_a_topics_table_whose_data_others_use_as_well_stay() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(NAME)
        await site.produce(topic.partitions[0], rows(5))
        await site.round()
        (some,) = await site.files(topic)
        stray = f"{TableObjects(site.objects).key_of(some).rpartition('/')[0]}/00009-late.parquet"
        await site.objects.put(stray, [b"late"])
        site.clock.ahead_ms += int(DAY_SECONDS * 1000) + 1
        await commit(site, setting("gc.enabled", "false"))
        await pipeline_of(site).sweep()
        assert await left(site, topic) == {stray}
        await commit(site, setting("gc.enabled", "true"))
        await pipeline_of(site).sweep()
        assert await left(site, topic) == set()

    run(scenario)


def test_a_sweep_killed_at_any_step_is_finished_by_the_next() -> None:
    async def swept(site: Site, fate: Fate) -> Topic:
        topic = await kept(site, pipeline_of(site))
        site.clock.ahead_ms += GRACE_MS + 1
        await mortal(site, fate).sweep()
        return topic

    def mortal(site: Site, fate: Fate) -> Pipeline:
        return site.pipeline(
            store=MortalVerbs(site.store, fate), objects=MortalObjects(site.objects, fate), grace_ms=GRACE_MS
        )

    whole = Fate()

    async def unharmed(site: Site) -> None:
        topic = await swept(site, whole)
        assert await left(site, topic) == set()

    run(unharmed)
    assert {"put json", "move_tables", "delete"} <= set(whole.calls)

    for at in range(len(whole.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await kept(site, pipeline_of(site))
                site.clock.ahead_ms += GRACE_MS + 1
                with pytest.raises(Killed):
                    await mortal(site, Fate(at=at, after=after)).sweep()
                for _ in range(3):  # what the dead one wrote last has a grace of its own
                    site.clock.ahead_ms += GRACE_MS + 1
                    await pipeline_of(site).sweep()
                assert await left(site, topic) == set(), f"at {whole.calls[at]}"
                assert await offsets(site, topic) == list(range(COMMITS))
                assert (await site.pointer(topic)).kind is TableKind.ORDINARY

            run(killed)


def test_a_table_whose_metadata_someone_takes_back_is_left_alone_at_once() -> None:
    """Its versions go back with that, so that they no longer say what is left over."""

    async def scenario(site: Site) -> None:
        pipeline = pipeline_of(site)
        topic = await kept(site, pipeline)
        metadata = await site.metadata(topic)
        earlier = metadata["metadata-log"][-3]["metadata-file"]
        await gateway(site).register(STREAMS, {"name": NAME, "metadata-location": earlier, "overwrite": True})
        there = await site.keys("tables/")
        for _ in range(2):
            site.clock.ahead_ms += GRACE_MS + 1
            await pipeline.sweep()
        assert await site.keys("tables/") == there
        assert await offsets(site, topic) == list(range(COMMITS - 3))

    run(scenario)
