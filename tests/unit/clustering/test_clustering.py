"""Clustering `main`: other files with the same rows, partitioned and sorted, while the log stays as it is."""

import io
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pyarrow.parquet as pq
import pytest

from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.topic import Topic
from lakestream.table.clustering.clustering import ClusterRound
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.pipeline import Pipeline
from tests.unit.compaction.breaking import Fate, MortalObjects, MortalVerbs
from tests.unit.compaction.site import NOW_MS, TTL_MS, InThisProcess, Row, Site, run

DAY_MS = 86_400_000
AT_ONCE = {"lakestream.table.cluster-after": "0s"}
LAYOUT = {"lakestream.table.partition-by": "bucket(2, user)", "lakestream.table.sort-by": "amount desc"}
NO_BOUND = MergeLimits(time_share=1.0)


def events(*pairs: tuple[int, int]) -> list[Row]:
    return [
        {"timestamp": NOW_MS, "key": b"k", "value": b'{"user":%d,"amount":%d}' % pair, "headers": []} for pair in pairs
    ]


async def json_topic(site: Site, name: str = "orders", *, partitions: int = 2, **config: str) -> Topic:
    topic = await site.topic(name, partitions=partitions)
    await changed(site, topic, {"lakestream.value.format": "json", **AT_ONCE, **LAYOUT, **config})
    return topic


async def changed(site: Site, topic: Topic, config: dict[str, str]) -> None:
    edits = [ConfigEdit(ConfigOperation.SET, name, value) for name, value in config.items()]
    await site.store.edit_topic_config(topic.id, edits, check_topic_config)


async def filled(site: Site, pipeline: Pipeline, topic: Topic, files: int = 3, *, base: int = 0) -> None:
    for number in range(base, base + files):
        for partition in topic.partitions:
            await site.produce(partition, events(*((at % 5, 10 * number + at) for at in range(6))))
        await site.round(pipeline)


async def clustered(site: Site, pipeline: Pipeline) -> ClusterRound:
    """There is always time, and it is every table's turn."""
    pipeline._clustering._budget._free_at = 0.0
    for known in pipeline._clustering._turns._known.values():
        known.next_look = 0.0
    return await pipeline.cluster(await site.lease())


async def contents(site: Site, topic: Topic) -> list[list[Row]]:
    return [pq.read_table(io.BytesIO(await site._object(file))).to_pylist() for file in await site.files(topic, "main")]


def plain(rows: Sequence[Row]) -> list[Row]:
    """Without the number that only its own file understands."""
    return [{name: value for name, value in row.items() if name != "__shape"} for row in rows]


async def no_file_is_left(site: Site, topic: Topic) -> None:
    assert await site.keys("tables/") - await site.referred(topic) == set()


async def head_summary(site: Site, topic: Topic, branch: str = "main") -> dict[str, str]:
    metadata = await site.metadata(topic)
    (head,) = [one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["refs"][branch]["snapshot-id"]]
    return dict(head["summary"])


def test_rows_of_main_are_partitioned_and_sorted_and_the_log_stays_as_it_is() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic)
        log, rows = await site.files(topic, "log"), await site.table(topic)
        before = [await site.read(partition) for partition in topic.partitions]
        head = (await site.metadata(topic))["refs"]["log"]
        done = await clustered(site, pipeline)
        assert (done.jobs, done.files) == (1, 3)
        found = await contents(site, topic)
        users = [{row["user"] for row in file} for file in found]
        assert len(found) == 2 and not users[0] & users[1], "a file for each bucket"
        for file in found:
            assert [row["amount"] for row in file] == sorted((row["amount"] for row in file), reverse=True)
        assert plain(await site.table(topic)) == plain(rows)
        assert await site.files(topic, "log") == log and (await site.metadata(topic))["refs"]["log"] == head
        assert [await site.read(partition) for partition in topic.partitions] == before
        summary = await head_summary(site, topic)
        assert summary["operation"] == "replace" and summary["lakestream.clustering"]
        assert (summary["total-data-files"], summary["total-records"]) == ("2", "36")
        assert (await clustered(site, pipeline)).jobs == 0, "all of it is clustered"

    run(scenario)


def test_compaction_merging_and_clustering_go_on_beside_each_other() -> None:
    async def scenario(site: Site) -> None:
        limits = MergeLimits(files_min=4, time_share=1.0)
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=limits)
        for base in range(0, 24, 4):
            await filled(site, pipeline, topic, 4, base=base)
            if base % 8:
                assert (await clustered(site, pipeline)).files
            pipeline._merging._budget._free_at = 0.0
            await pipeline.merge(await site.lease())
        await clustered(site, pipeline)
        assert [row["__offset"] for row in await site.table(topic) if row["__partition"] == 1] == list(range(144))
        assert len(await site.files(topic)) <= 2 * 4, "small files of one partition were clustered together"
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(144))

    run(scenario)


def test_a_changed_layout_holds_for_rows_that_come_later() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site, partitions=1), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 2)
        await clustered(site, pipeline)
        old = await site.files(topic)
        await changed(site, topic, {"lakestream.table.partition-by": "user", "lakestream.table.sort-by": "none"})
        await filled(site, pipeline, topic, 1, base=2)
        assert (await clustered(site, pipeline)).files == 1
        files = await site.files(topic)
        assert set(old) < set(files) and len(files) == len(old) + 5
        metadata = await site.metadata(topic)
        assert [spec["fields"] and spec["fields"][0]["transform"] for spec in metadata["partition-specs"]] == [
            [],
            "bucket[2]",
            "identity",
        ]
        assert (metadata["default-spec-id"], metadata["default-sort-order-id"]) == (2, 0)
        assert json.loads(metadata["properties"]["lakestream.layout"]) == {
            "lakestream.table.partition-by": "user",
            "lakestream.table.sort-by": "none",
        }
        version = (await site.pointer(topic)).metadata_location
        await changed(site, topic, {"lakestream.table.cluster-after": "never"})
        await clustered(site, pipeline)
        assert (await site.pointer(topic)).metadata_location == version, "nothing to do is no commit"
        assert len(await site.table(topic)) == 18

    run(scenario)


def test_rows_wait_for_the_age_or_the_bytes_of_cluster_after() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site), site.pipeline(merge_limits=NO_BOUND)
        await changed(site, topic, {"lakestream.table.cluster-after": "1h, 1GB"})
        await filled(site, pipeline, topic)
        assert (await clustered(site, pipeline)).files == 0
        site.clock.ahead_ms += 3_000_000
        assert (await clustered(site, pipeline)).files == 0
        site.clock.ahead_ms += 602_000
        await filled(site, pipeline, topic, 1, base=3)
        assert (await clustered(site, pipeline)).files == 4, "together with all that came since"
        await filled(site, pipeline, topic, 1, base=4)
        assert (await clustered(site, pipeline)).files == 0, "the wait begins anew"
        await changed(site, topic, {"lakestream.table.cluster-after": "1h, 1kB"})
        assert (await clustered(site, pipeline)).files == 1

    run(scenario)


def test_a_layout_that_the_table_has_no_columns_for_waits_for_them() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site, partitions=1), site.pipeline(merge_limits=NO_BOUND)
        await site.round(pipeline)
        assert (await clustered(site, pipeline)).files == 0
        assert (await site.metadata(topic))["default-spec-id"] == 0
        await filled(site, pipeline, topic, 2)
        assert (await clustered(site, pipeline)).files == 2

    run(scenario)


def test_system_columns_partition_a_raw_topic() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await site.topic(partitions=2), site.pipeline(merge_limits=NO_BOUND)
        layout = {"lakestream.table.partition-by": "day(__timestamp), __partition", "lakestream.table.sort-by": "__key"}
        await changed(site, topic, {**AT_ONCE, **layout})
        for day in range(2):
            for partition in topic.partitions:
                await site.produce(
                    partition,
                    [
                        {"timestamp": NOW_MS + day * DAY_MS, "key": key, "value": b"v", "headers": []}
                        for key in (b"c", None, b"a")
                    ],
                )
            await site.round(pipeline)
        rows = await site.table(topic)
        assert (await clustered(site, pipeline)).files == 2
        found = await contents(site, topic)
        assert [[row["__key"] for row in file] for file in found] == [[None, b"a", b"c"]] * 4
        assert await site.table(topic) == rows

    run(scenario)


def test_too_many_partitions_are_refused_and_the_table_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakestream.table.arrangement.arranging.PARTITIONS_MAX", 3)

    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site, **{"lakestream.table.partition-by": "user"}), site.pipeline()
        await filled(site, pipeline, topic)
        files = await site.files(topic)
        assert (await clustered(site, pipeline)).files == 0
        assert await site.files(topic) == files
        await no_file_is_left(site, topic)

    run(scenario)


def meanwhile(site: Site, happens: Callable[[], Awaitable[None]]) -> InThisProcess:
    """A rewriter during whose clustering something happens."""

    class Meanwhile(InThisProcess):
        async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            results = await super().rewrite(tasks)
            if any(task.cluster for task in tasks):
                await happens()
            return results

    return Meanwhile(site.objects)


def test_a_stranger_who_takes_a_file_during_a_clustering_wins() -> None:
    async def scenario(site: Site) -> None:
        topic = await json_topic(site)

        async def taken() -> None:
            pointer, commits = await site.pointer(topic), site.commits()
            (first, *_) = await site.files(topic)
            found = await commits.clusterable(pointer)
            assert first in {file.path for file in found.files}
            prepared = await commits.cluster(pointer, {first}, [], summary={})
            await site.store.tables.move_tables([prepared.move])

        pipeline = site.pipeline(merge_limits=NO_BOUND, rewriter=meanwhile(site, taken))
        await filled(site, pipeline, topic)
        assert (await clustered(site, pipeline)).files == 0
        assert len(await site.files(topic)) == 2 and len(await site.files(topic, "log")) == 3
        assert len(await site.table(topic)) == 24
        await no_file_is_left(site, topic)

    run(scenario)


def test_rows_that_come_during_a_clustering_are_kept() -> None:
    async def scenario(site: Site) -> None:
        topic = await json_topic(site)
        other = site.pipeline()

        async def more() -> None:
            await filled(site, other, topic, 1, base=9)

        pipeline = site.pipeline(merge_limits=NO_BOUND, rewriter=meanwhile(site, more))
        await filled(site, pipeline, topic)
        assert (await clustered(site, pipeline)).files == 3
        assert len(await site.table(topic)) == 48 and len(await site.files(topic)) == 3

    run(scenario)


def test_retention_lets_clustered_rows_go_with_the_log() -> None:
    async def scenario(site: Site) -> None:
        topic, pipeline = await json_topic(site, partitions=1), site.pipeline(merge_limits=NO_BOUND)
        await filled(site, pipeline, topic, 2)
        await clustered(site, pipeline)
        await filled(site, pipeline, topic, 1, base=2)
        await site.store.delete_records(topic.partitions[0], 11)
        await pipeline.upkeep()
        assert len(await site.table(topic)) == 18, "the youngest record of the files is still there"
        await site.store.delete_records(topic.partitions[0], 12)
        await pipeline.upkeep()
        assert [row["__offset"] for row in await site.table(topic)] == list(range(12, 18))
        assert [row["__offset"] for row in await site.table(topic, "log")] == list(range(12, 18))

    run(scenario)


def test_a_clustering_killed_at_any_step_changes_no_row_and_leaves_nothing() -> None:
    fate = Fate()

    async def prepared(site: Site) -> Topic:
        topic = await json_topic(site)
        await filled(site, site.pipeline(), topic, 2)
        return topic

    def mortal(site: Site, fate: Fate) -> Any:
        store: Any = MortalVerbs(site.store, fate)
        objects: Any = MortalObjects(site.objects, fate)
        return site.pipeline(store=store, objects=objects, rewriter=InThisProcess(objects), merge_limits=NO_BOUND)

    async def check(site: Site, topic: Topic) -> None:
        for branch in ("main", "log"):
            found = [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)]
            assert found == [(number, offset) for number in range(2) for offset in range(12)]
        for partition in topic.partitions:
            assert [row["offset"] for row in await site.read(partition)] == list(range(12))
        await no_file_is_left(site, topic)

    async def whole(site: Site) -> None:
        topic = await prepared(site)
        assert (await clustered(site, mortal(site, fate))).files == 2
        await check(site, topic)

    run(whole)
    assert {"begin_jobs", "commit_job", "move_tables", "put parquet", "put avro", "put json"} <= set(fate.calls)
    for at in range(len(fate.calls)):
        for after in (False, True):

            async def killed(site: Site, at: int = at, after: bool = after) -> None:
                topic = await prepared(site)
                with pytest.raises(BaseException) as died:
                    await clustered(site, mortal(site, Fate(at=at, after=after)))
                assert "Killed" in repr(died.value), f"at {fate.calls[at]}"
                site.clock.ahead_ms += TTL_MS + 1
                successor = site.pipeline(merge_limits=NO_BOUND)
                await successor.round(await site.lease("successor"))
                await successor.cluster(await site.lease("successor"))
                await successor.sweep()
                assert len(await site.files(topic)) == 2 and (await head_summary(site, topic))["operation"] == "replace"
                await check(site, topic)

            run(killed)
