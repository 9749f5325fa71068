"""`lakestream.table.retention.ms`: `main` keeps rows by its own rule, the log by its own, and a file dies with both."""

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakestream.administration.condition.figures import FiguresOfTables
from lakestream.administration.health import TableContents, TablesHealth
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.model.configs.table_retention import TABLE_RETENTION
from lakestream.model.topic import Topic
from lakestream.storage.tablefile.format.columns import BY_NAME, TIMESTAMP
from lakestream.table.pipeline import Pipeline
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.inserting import numbers
from tests.unit.compaction.site import NOW_MS, Site, rows, run
from tests.unit.compaction.test_inserted_rows import created, gateway, insert_of, records
from tests.unit.compaction.test_trimming import keys_of, retain, with_config, written

STEP_MS = 1_000_000
"""Between the records of one file of `written` and those of the next."""
FOR_EVER = "-1"
AS_THE_LOG = "-2"


async def offsets(site: Site, topic: Topic, branch: str) -> list[int]:
    return [row["__offset"] for row in await site.table(topic, branch)]


async def consumed(site: Site, topic: Topic) -> list[int]:
    return [row["offset"] for row in await site.read(topic.partitions[0])]


async def keep_rows_since(site: Site, topic: Topic, since_ms: int) -> None:
    """Those of the files of `written`: the clock goes on, so the rule falls between two of them."""
    await with_config(site, topic, {TABLE_RETENTION: str(await site.store.now_ms() - since_ms + STEP_MS // 2)})


async def upkeep(pipeline: Pipeline) -> None:
    """Until nothing is left to do."""
    for _ in range(3):
        await pipeline.upkeep()


async def contents(site: Site, topic: Topic) -> TableContents:
    locations = TableObjects(site.objects)
    figures = FiguresOfTables(locations, MergeLimits())
    health = TablesHealth(site.store, locations, MetadataFiles(locations, ids=site.ids), figures)
    found = (await health.of_topics([topic], await site.store.tails(topic.partitions)))[topic.id].table
    assert found is not None and found.contents is not None
    return found.contents


def test_a_table_for_ever_keeps_what_the_log_lets_go_of_and_gives_it_up_when_it_follows_the_log_again() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await with_config(site, topic, {TABLE_RETENTION: FOR_EVER})
        files = await written(site, topic, pipeline)
        await retain(site, topic, before_ms=NOW_MS + STEP_MS + STEP_MS // 2)
        await upkeep(pipeline)
        assert await consumed(site, topic) == await offsets(site, topic, "log") == list(range(20, 30))
        assert await offsets(site, topic, "main") == list(range(30))
        assert keys_of(site, files) <= await site.keys()
        summaries = [one["summary"] for one in (await site.metadata(topic))["snapshots"]]
        assert not any("lakestream.retention" in summary for summary in summaries), "nothing is to be deleted"
        found = await contents(site, topic)
        sizes = [len(await site.objects.get(key)) for key in keys_of(site, files[:2])]
        assert (found.bytes_kept_by_table, found.bytes_by_others, found.bytes_let_go) == (sum(sizes), 0, 0)

        await site.produce(topic.partitions[0], rows(10, base=30, timestamp_ms=NOW_MS + 3 * STEP_MS))
        await site.round(pipeline)
        await upkeep(pipeline)
        assert await offsets(site, topic, "main") == list(range(40))
        assert await consumed(site, topic) == list(range(20, 40))

        await with_config(site, topic, {TABLE_RETENTION: AS_THE_LOG})
        await upkeep(pipeline)
        assert await offsets(site, topic, "main") == await consumed(site, topic) == list(range(20, 40))
        assert not keys_of(site, files[:2]) & await site.keys()

    run(scenario)


def test_a_table_may_forget_rows_that_the_log_keeps() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0, merge_limits=MergeLimits(files_min=2))
        files = await written(site, topic, pipeline, count=4)
        await keep_rows_since(site, topic, NOW_MS + 2 * STEP_MS)
        await upkeep(pipeline)
        assert await offsets(site, topic, "main") == list(range(20, 40))
        assert await offsets(site, topic, "log") == await consumed(site, topic) == list(range(40))
        assert keys_of(site, files) <= await site.keys()
        assert (await contents(site, topic)).bytes_let_go == 0

        await pipeline.merge(await site.lease())
        assert len(await site.files(topic, "log")) < 4, "what only the log has is merged on the log alone"
        assert await offsets(site, topic, "main") == list(range(20, 40))
        assert await consumed(site, topic) == list(range(40))

    run(scenario)


@pytest.mark.parametrize("log_first", [True, False])
def test_a_file_dies_when_neither_the_log_nor_the_table_needs_it(log_first: bool) -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await with_config(site, topic, {TABLE_RETENTION: FOR_EVER})
        files = await written(site, topic, pipeline)

        async def from_log() -> None:
            await site.store.delete_records(topic.partitions[0], 10)

        async def from_table() -> None:
            await keep_rows_since(site, topic, NOW_MS + STEP_MS)

        for step in (from_log, from_table) if log_first else (from_table, from_log):
            assert keys_of(site, files) <= await site.keys()
            await step()
            await upkeep(pipeline)
        assert await offsets(site, topic, "main") == await offsets(site, topic, "log") == list(range(10, 30))
        assert keys_of(site, files) & await site.keys() == keys_of(site, files[1:])
        assert {key for key in await site.keys("tables/") if key.endswith(".parquet")} <= await site.referred(topic)

    run(scenario)


def test_what_left_both_is_shown_until_the_grace_is_over() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=60_000)
        files = await written(site, topic, pipeline)
        await keep_rows_since(site, topic, NOW_MS + STEP_MS)
        await pipeline.upkeep()
        await site.store.delete_records(topic.partitions[0], 10)
        await pipeline.upkeep()
        (key,) = keys_of(site, files[:1])
        assert (await contents(site, topic)).bytes_let_go == len(await site.objects.get(key))
        site.clock.ahead_ms += 60_001
        await upkeep(pipeline)
        assert (await contents(site, topic)).bytes_let_go == 0
        assert key not in await site.keys()

    run(scenario)


def test_a_table_is_looked_at_again_when_its_next_file_is_due_and_costs_no_commit_before() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await written(site, topic, pipeline)
        await keep_rows_since(site, topic, NOW_MS)
        await upkeep(pipeline)
        before = (await site.pointer(topic)).metadata_location
        await upkeep(pipeline)
        assert (await site.pointer(topic)).metadata_location == before
        site.clock.ahead_ms += STEP_MS
        await upkeep(pipeline)
        assert await offsets(site, topic, "main") == list(range(10, 30))

    run(scenario)


async def stranger_writes(site: Site, topic: Topic, *, newest_ms: int | None) -> str:
    """A file of rows that an engine has rewritten, with a bound of their times or without."""
    pointer, content = await site.pointer(topic), io.BytesIO()
    path = f"{(await site.metadata(topic))['location']}/data/{site.ids.uuid()}.parquet"
    pq.write_table(pa.table({"__partition": [0], "__offset": [0]}), content)
    await TableObjects(site.objects).write(path, content.getvalue())
    bound = None if newest_ms is None else struct.pack("<q", newest_ms * 1_000).hex()
    file: dict[str, Any] = {
        "content": "data",
        "file-path": path,
        "file-format": "parquet",
        "record-count": 1,
        "file-size-in-bytes": len(content.getvalue()),
        **({} if bound is None else {"upper-bounds": {"keys": [BY_NAME[TIMESTAMP].field_id], "values": [bound]}}),
    }
    prepared = await site.commits().append(pointer, {"main": [file]}, summary={})
    await site.store.tables.move_tables([prepared.move])
    return path


def test_files_of_other_engines_go_by_their_bounds_or_by_the_time_when_they_were_written() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await written(site, topic, pipeline, count=1)
        old = await stranger_writes(site, topic, newest_ms=NOW_MS)
        new = await stranger_writes(site, topic, newest_ms=NOW_MS + 2 * STEP_MS)
        unknown = await stranger_writes(site, topic, newest_ms=None)
        await keep_rows_since(site, topic, NOW_MS + STEP_MS)
        await upkeep(pipeline)
        assert set(await site.files(topic)) == {new, unknown} and old not in await site.files(topic)
        await with_config(site, topic, {TABLE_RETENTION: "60000"})
        await upkeep(pipeline)
        assert set(await site.files(topic)) == {unknown}, "it was written a moment ago"
        site.clock.ahead_ms += 120_000
        await upkeep(pipeline)
        assert await site.files(topic) == []
        assert await consumed(site, topic) == list(range(10))

    run(scenario)


def test_strangers_files_stay_while_the_table_follows_the_log() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await written(site, topic, pipeline, count=1)
        theirs = await stranger_writes(site, topic, newest_ms=NOW_MS)
        await site.store.delete_records(topic.partitions[0], 10)
        await upkeep(pipeline)
        assert await site.files(topic) == [theirs]

    run(scenario)


def test_inserted_rows_count_from_the_time_when_the_log_took_them() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await created(site), site.pipeline(grace_ms=0)
        await gateway(site, Fate()).commit([await insert_of(site, topic, numbers(1, 2))])
        await with_config(site, topic, {TABLE_RETENTION: "3600000"})
        await upkeep(pipeline)
        assert len(await site.files(topic)) == 1
        site.clock.ahead_ms += 3_600_000 + 60_000
        await gateway(site, Fate()).commit([await insert_of(site, topic, numbers(3))])
        await upkeep(pipeline)
        assert len(await site.files(topic)) == 1 and len(await site.files(topic, "log")) == 2
        assert len(await records(site, topic)) == 3

    run(scenario)


def test_a_file_that_main_keeps_is_found_by_no_sweep() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(grace_ms=0)
        await with_config(site, topic, {TABLE_RETENTION: FOR_EVER})
        files = await written(site, topic, pipeline)
        await site.store.delete_records(topic.partitions[0], 30)
        await upkeep(pipeline)
        site.clock.ahead_ms += 25 * 3_600_000
        await site.pipeline(grace_ms=0).sweep()
        assert keys_of(site, files) <= await site.keys()
        assert await offsets(site, topic, "main") == list(range(30)) and await site.files(topic, "log") == []

    run(scenario)


def test_an_upkeep_killed_at_any_step_loses_no_file_that_either_side_needs_and_leaves_nothing() -> None:
    """The log lets go of the first file, the table of the first two: one dies, and one stays for the log."""
    fate = Fate()

    async def prepared(site: Site) -> tuple[Topic, list[str]]:
        topic = await site.topic()
        files = await written(site, topic, site.pipeline())
        await keep_rows_since(site, topic, NOW_MS + 2 * STEP_MS)
        await site.store.delete_records(topic.partitions[0], 10)
        return topic, files

    async def check(site: Site, topic: Topic, files: list[str]) -> None:
        assert await offsets(site, topic, "main") == list(range(20, 30))
        assert await offsets(site, topic, "log") == await consumed(site, topic) == list(range(10, 30))
        assert keys_of(site, files) & await site.keys() == keys_of(site, files[1:])
        left = {key for key in await site.keys("tables/") if not key.endswith("ledger.json")}
        assert left <= await site.referred(topic)

    def mortal(site: Site, fate: Fate) -> Pipeline:
        store: Any = MortalVerbs(site.store, fate)
        return site.pipeline(store=store, objects=MortalObjects(site.objects, fate), grace_ms=0)

    async def whole(site: Site) -> None:
        topic, files = await prepared(site)
        await upkeep(mortal(site, fate))
        await check(site, topic, files)

    run(whole)
    assert {"move_tables", "put avro", "put json", "delete"} <= set(fate.calls), fate.calls
    writes = [at for at, name in enumerate(fate.calls) if name.startswith(("move", "put", "delete"))]
    for at in writes:
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic, files = await prepared(site)
                with pytest.raises(BaseException) as died:
                    await upkeep(mortal(site, Fate(at=at, after=after)))
                assert "Killed" in repr(died.value), f"at {fate.calls[at]}"
                await upkeep(site.pipeline(grace_ms=0))
                await with_config(site, topic, {TABLE_RETENTION: FOR_EVER})  # a day more makes no other file too old
                site.clock.ahead_ms += 25 * 3_600_000
                await site.pipeline(grace_ms=0).sweep()
                await check(site, topic, files)

            run(killed)
