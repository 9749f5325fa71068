"""Merging small files: fewer files on `log` and `main`, the same records for everyone, at whatever moment it breaks."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from lakestream.catalog.commits.removals import remove_files
from lakestream.catalog.files.commit_names import version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.model.place import Tail
from lakestream.model.repair import MERGE_REQUEST, Repair, RepairState
from lakestream.model.topic import Topic
from lakestream.storage.records.header import Codec
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.pipeline import Pipeline
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import NOW_MS, TTL_MS, InThisProcess, Passing, Row, Site, rows, run

FOUR = MergeLimits(files_min=4)


async def written(site: Site, pipeline: Pipeline, topic: Topic, files: int, *, base: int = 0) -> None:
    """So many files, each with some records of every partition."""
    for number in range(base, base + files):
        for partition in topic.partitions:
            await site.produce(partition, rows(3, base=3 * number), codec=Codec.NONE if number % 2 else Codec.GZIP)
        await site.round(pipeline)


async def summaries(site: Site, topic: Topic, branch: str) -> list[dict[str, str]]:
    metadata = await site.metadata(topic)
    by_id = {snapshot["snapshot-id"]: snapshot for snapshot in metadata["snapshots"]}
    at, found = metadata["refs"][branch]["snapshot-id"], []
    while at in by_id:
        found.append(by_id[at]["summary"])
        at = by_id[at].get("parent-snapshot-id")
    return found


def test_small_files_become_one_and_consumers_and_sql_see_the_same() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(partitions=3), site.pipeline(merge_limits=FOUR)
        await written(site, pipeline, topic, 5)
        before = {partition: await site.read(partition) for partition in topic.partitions}
        table, log = await site.table(topic), await site.table(topic, "log")
        old = await site.files(topic, "log")
        done = await pipeline.merge(await site.lease())
        assert (done.jobs, done.files) == (1, 5)
        files = await site.files(topic, "main")
        assert len(files) == 1 and files == await site.files(topic, "log")
        assert not set(files) & set(old)
        assert {partition: await site.read(partition) for partition in topic.partitions} == before
        assert await site.table(topic) == table and await site.table(topic, "log") == log
        for partition in topic.partitions:
            (span,) = (await site.view(partition)).spans
            assert (span.base_offset, span.last_offset) == (0, 14)
            assert (await site.view(partition)).tail == Tail(0, 15, 15)
        summary = (await summaries(site, topic, "main"))[0]
        assert summary["operation"] == "replace"
        assert (summary["total-data-files"], summary["total-records"]) == ("1", "45")
        assert summary["lakestream.last-rows-ms"] and summary["lakestream.watermark"]
        assert await site.read(topic.partitions[0]) == before[topic.partitions[0]]

    run(scenario)


def test_compaction_goes_on_behind_a_merge_and_merged_files_are_merged_again() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(partitions=2), site.pipeline(merge_limits=FOUR)
        for base in range(0, 40, 4):
            await written(site, pipeline, topic, 4, base=base)
            pipeline._merging._budget._free_at = 0
            await pipeline.merge(await site.lease())
        assert len(await site.files(topic)) <= 3 * 4
        assert [row["__offset"] for row in await site.table(topic) if row["__partition"] == 0] == list(range(120))
        assert [row["offset"] for row in await site.read(topic.partitions[1])] == list(range(120))

    run(scenario)


def json_rows(*values: bytes | None) -> list[Row]:
    return [{"timestamp": NOW_MS, "key": b"k", "value": value, "headers": []} for value in values]


async def merged(site: Site, pipeline: Pipeline) -> int:
    """How many files the merge replaced. There is always time."""
    pipeline._merging._budget._free_at = 0.0
    return (await pipeline.merge(await site.lease())).files


def test_typed_values_tombstones_and_broken_values_come_back_byte_by_byte() -> None:
    """Each file has shapes of its own, and rows that only `log` shows."""
    produced = [
        [b'{"a": 1, "b": "x"}', b'{"b":"y","a":2}', None],
        [b'{"b": "z"}', b"broken", b'{"a": 3,  "b": "x"}'],
        [b'{"b":"y","a":4}', b'{"a": 5, "b": "x"}'],
        [None, b"[broken", b'{"a":6}'],
        [b"{", None],
    ]

    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2, lakestream_value_format="json")
        pipeline = site.pipeline(merge_limits=FOUR)
        await site.produce(topic.partitions[0], json_rows(b'{"a": 0, "b": ""}'))
        await site.round(pipeline)
        for values in produced:
            await site.produce(topic.partitions[0], json_rows(*values))
            await site.produce(topic.partitions[1], json_rows(*reversed(values)))
            await site.round(pipeline)
        before = [await site.read(partition) for partition in topic.partitions]
        shown, hidden = await site.table(topic), await site.table(topic, "log")
        set_aside = await site.files(topic, "quarantine")
        assert await merged(site, pipeline) == 1 + 4 + 4
        (file,) = await site.files(topic)
        log_files = await site.files(topic, "log")
        assert file in log_files and len(log_files) == 2
        assert [await site.read(partition) for partition in topic.partitions] == before
        assert [row["value"] for row in before[0]][1:] == [value for values in produced for value in values]
        assert without_shapes(await site.table(topic)) == without_shapes(shown)
        assert without_shapes(await site.table(topic, "log")) == without_shapes(hidden)
        assert await site.files(topic, "quarantine") == set_aside
        (span,) = (await site.view(topic.partitions[0])).spans
        assert set(span.files) == set(log_files)

    run(scenario)


def without_shapes(rows: list[Row]) -> list[Row]:
    """Shapes are counted by each file anew."""
    return [{name: value for name, value in row.items() if name != "__shape"} for row in rows]


def test_files_from_before_and_after_a_new_column_are_merged_apart() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(lakestream_value_format="json"), site.pipeline(merge_limits=FOUR)
        for value in (b'{"a":1}',) * 3 + (b'{"a":1,"new":2}',) * 3:
            await site.produce(topic.partitions[0], json_rows(value))
            await site.round(pipeline)
        table, before = await site.table(topic), await site.read(topic.partitions[0])
        assert await merged(site, pipeline) == 6
        assert len(await site.files(topic)) == 2
        assert await site.read(topic.partitions[0]) == before
        assert without_shapes(await site.table(topic)) == without_shapes(table)

    run(scenario)


def test_a_batch_that_nobody_can_read_is_merged_as_it_is() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(merge_limits=FOUR)
        for number in range(5):
            await site.produce(topic.partitions[0], rows(3, base=3 * number), damage=number in (1, 3))
            await site.round(pipeline)
        before = await site.read(topic.partitions[0])
        assert await merged(site, pipeline) == 5
        assert len(await site.files(topic)) == 1 and len(await site.files(topic, "log")) == 2
        assert await site.read(topic.partitions[0]) == before
        assert sum("batch" in row for row in before) == 2

    run(scenario)


def test_files_that_a_stranger_took_from_main_are_merged_on_log_alone() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(merge_limits=FOUR)
        await written(site, pipeline, topic, 10)
        files = await files_in_order(site, topic)
        await removed_from_main(site, topic, files[:5])
        main, before = await site.table(topic), await site.read(topic.partitions[0])
        assert await merged(site, pipeline) == 10
        assert len(await site.files(topic)) == 1 and len(await site.files(topic, "log")) == 2
        assert await site.table(topic) == main and len(main) == 15
        assert await site.read(topic.partitions[0]) == before

    run(scenario)


async def files_in_order(site: Site, topic: Topic) -> list[str]:
    return [use.file for use in await site.store.jobs.file_uses(topic.id)]


async def removed_from_main(site: Site, topic: Topic, files: Sequence[str]) -> None:
    """As a DELETE of whole files by any engine."""
    pointer, commits = await site.pointer(topic), site.commits()
    base = await commits._files.read(pointer.metadata_location)
    plan = remove_files(
        await commits._snapshots.whole_state(base.metadata, ["main"]),
        {"main": frozenset(files)},
        summary={},
        now_ms=site.clock.wall_ms(),
        ids=site.ids,
        names=commits._names(pointer.id, version=version_of(base.location) + 1),
    )
    assert plan is not None
    prepared = await commits._next(pointer, base, plan.updates, unwritten=plan.objects)
    await site.store.tables.move_tables([prepared.move])


@pytest.mark.parametrize("taken", [3, 6], ids=["some of the files", "all of the files"])
def test_a_stranger_who_takes_the_files_during_a_merge_wins(taken: int) -> None:
    """The commit is decided anew. Where only some of the files are gone from `main`, the merge is given up."""

    class Meanwhile(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            if any(task.merge for task in tasks):
                await removed_from_main(self.site, self.topic, (await files_in_order(self.site, self.topic))[:taken])
            return results

    async def scenario(site: Site) -> None:
        rewriter = Meanwhile(site.objects)
        topic, pipeline = await site.topic(), site.pipeline(merge_limits=FOUR, rewriter=rewriter)
        rewriter.site, rewriter.topic = site, topic  # type: ignore[attr-defined]
        await written(site, pipeline, topic, 6)
        before = await site.read(topic.partitions[0])
        assert await merged(site, pipeline) == (6 if taken == 6 else 0)
        assert len(await site.table(topic)) == 3 * (6 - taken)
        assert len(await site.files(topic, "log")) == (1 if taken == 6 else 6)
        assert await site.read(topic.partitions[0]) == before
        await no_file_is_left(site, topic)

    run(scenario)


async def no_file_is_left(site: Site, topic: Topic) -> None:
    assert await site.keys("tables/") - await site.referred(topic) == set()


def test_a_merge_killed_at_any_step_changes_nothing_for_readers_and_leaves_nothing() -> None:
    fate = Fate()

    async def prepared(site: Site) -> Topic:
        topic, pipeline = await site.topic(partitions=2), site.pipeline()
        await written(site, pipeline, topic, 4)
        return topic

    def mortal(site: Site, fate: Fate) -> Any:
        store: Any = MortalVerbs(site.store, fate)
        objects: Any = MortalObjects(site.objects, fate)
        return site.pipeline(store=store, objects=objects, rewriter=InThisProcess(objects), merge_limits=FOUR)

    async def check(site: Site, topic: Topic) -> None:
        for branch in ("main", "log"):
            found = [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)]
            assert found == [(number, offset) for number in range(2) for offset in range(12)]
        for partition in topic.partitions:
            assert [row["offset"] for row in await site.read(partition)] == list(range(12))
            spans = (await site.view(partition)).spans
            assert {file for span in spans for file in span.files} == set(await site.files(topic, "log"))
        await no_file_is_left(site, topic)

    async def whole(site: Site) -> None:
        topic = await prepared(site)
        assert (await mortal(site, fate).merge(await site.lease())).files == 4
        await check(site, topic)

    run(whole)
    assert {"begin_jobs", "commit_job", "put parquet", "put avro", "put json"} <= set(fate.calls)
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await prepared(site)
                with pytest.raises(BaseException) as died:
                    await mortal(site, Fate(at=at, after=after)).merge(await site.lease())
                assert "Killed" in repr(died.value), f"at {fate.calls[at]}"
                site.clock.ahead_ms += TTL_MS + 1
                successor = site.pipeline(merge_limits=FOUR)
                await successor.round(await site.lease("successor"))
                await successor.merge(await site.lease("successor"))
                await successor.sweep()
                assert len(await site.files(topic)) == 1
                await check(site, topic)

            run(killed)


def test_retention_during_a_merge_takes_what_it_takes() -> None:
    class Meanwhile(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            if any(task.merge for task in tasks):
                await site_of[0].store.delete_records(partition_of[0], 8)
            return await super().rewrite(tasks)

    site_of: list[Site] = []
    partition_of: list[int] = []

    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline(merge_limits=FOUR, rewriter=Meanwhile(site.objects))
        site_of.append(site)
        partition_of.append(topic.partitions[0])
        await written(site, pipeline, topic, 5)
        assert await merged(site, pipeline) == 5
        view = await site.view(topic.partitions[0])
        assert view.tail.log_start == 8
        assert [(span.base_offset, span.last_offset) for span in view.spans] == [(6, 14)]
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(8, 15))
        await pipeline.upkeep()
        assert len(await site.files(topic, "log")) == 1

    run(scenario)


def test_merging_keeps_to_its_share_of_the_time() -> None:
    class Slow(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            clock.passed += 3.0
            return await super().rewrite(tasks)

    clock = Passing()

    async def scenario(site: Site) -> None:
        limits = MergeLimits(files_min=4, time_share=0.1)
        topic = await site.topic()
        pipeline = site.pipeline(merge_limits=limits, rewriter=Slow(site.objects), clock=clock)
        await written(site, pipeline, topic, 4)
        assert (await pipeline.merge(await site.lease())).files == 4
        await written(site, pipeline, topic, 4, base=4)
        clock.passed += 5
        assert (await pipeline.merge(await site.lease())).files == 0
        clock.passed += 25
        assert (await pipeline.merge(await site.lease())).files == 4

    run(scenario)


async def asked_to_merge(site: Site, topic: Topic) -> str:
    repair = Repair(id=site.ids.ulid(), topic=topic.id, request=MERGE_REQUEST)
    await site.store.repairs.ask(repair)
    return repair.id


def test_a_request_merges_all_that_can_be_merged_whatever_the_budget() -> None:
    async def scenario(site: Site) -> None:
        topic, other = await site.topic(), await site.topic("other")
        pipeline = site.pipeline(merge_limits=MergeLimits(time_share=0))
        for one in (topic, other):
            await written(site, pipeline, one, 3)
        assert (await pipeline.merge(await site.lease())).files == 0
        id = await asked_to_merge(site, topic)
        assert (await pipeline.merge(await site.lease())).files == 3
        asked = await site.store.repairs.look(id)
        assert asked is not None and asked.state is RepairState.ASKED, "there may be more"
        await site.round(pipeline)
        assert (await pipeline.merge(await site.lease())).files == 0
        done = await site.store.repairs.look(id)
        assert done is not None and done.state is RepairState.DONE
        counts = json.loads(done.answer or "")
        assert (counts["files"], counts["into"]) == (3, 1) and counts["bytes"] > 0
        assert len(await site.files(topic)) == 1 and len(await site.files(other)) == 3

    run(scenario)


def test_a_request_whose_merge_fails_is_told_why() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(), site.pipeline()
        await written(site, pipeline, topic, 2)
        (first, _) = await files_in_order(site, topic)
        await site.objects.delete([TableObjects(site.objects).key_of(first)])
        id = await asked_to_merge(site, topic)
        await pipeline.merge(await site.lease())
        failed = await site.store.repairs.look(id)
        assert failed is not None and failed.state is RepairState.FAILED
        assert first.rpartition("/")[0].rpartition("/")[2] in (failed.answer or "")

    run(scenario)
