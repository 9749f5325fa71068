"""Rounds of the pipeline: what was in the log is in the table, record for record, and nothing else is."""

import hashlib
import json
from collections.abc import Sequence

import pytest

from lakestream.catalog.commits.summaries import JOB, LEDGER, LEDGER_HASH, WATERMARK
from lakestream.catalog.files.locations import TableObjects
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.configs.topic_config import check_topic_config
from lakestream.model.errors import ObjectMissing, SegmentLost
from lakestream.model.row_form import Form
from lakestream.model.topic import Topic
from lakestream.storage.records.header import Codec
from lakestream.storage.wal.segment import segment_key
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.compaction.task import RewriteTask, TaskResult
from tests.unit.compaction.site import NOW_MS, Row, Site, rows, run


def as_table(partition: int, records: list[Row]) -> list[tuple[object, ...]]:
    return [(partition, row["offset"], row["timestamp"], row["key"], row["value"], row["headers"]) for row in records]


def from_table(found: list[Row]) -> list[tuple[object, ...]]:
    return [
        (
            row["__partition"],
            row["__offset"],
            round(row["__timestamp"].timestamp() * 1000),
            row["__key"],
            row["__value"],
            row["__headers"],
        )
        for row in found
    ]


async def change_freshness(site: Site, topic: Topic, band: str) -> None:
    edit = ConfigEdit(ConfigOperation.SET, "lakestream.freshness", band)
    await site.store.edit_topic_config(topic.id, [edit], check_topic_config)


def test_every_record_becomes_a_row_and_reads_back_equal() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        records = rows(50)
        for codec, part in zip((Codec.NONE, Codec.LZ4, Codec.ZSTD, Codec.GZIP, Codec.SNAPPY), range(5), strict=True):
            await site.produce(topic.partitions[0], records[10 * part : 10 * part + 10], codec=codec)
        other = rows(7, timestamp_ms=NOW_MS + 99)
        await site.produce(topic.partitions[1], other)
        done = await site.round()
        assert (done.committed, done.failed) == (1, 0)
        assert [await site.places(partition) for partition in topic.partitions] == ["F", "F"]
        assert await site.read(topic.partitions[0]) == records
        assert await site.read(topic.partitions[0], bytes_max=1) == records
        assert await site.read(topic.partitions[1]) == other
        for branch in ("main", "log"):
            assert from_table(await site.table(topic, branch)) == as_table(0, records) + as_table(1, other)

    run(scenario)


def test_a_reader_crosses_from_the_table_into_the_log() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        records = rows(60)
        pipeline = site.pipeline()
        for first in (0, 20):
            await site.produce(partition, records[first : first + 10])
            await site.produce(partition, records[first + 10 : first + 20])
            await site.round(pipeline)
        await site.produce(partition, records[40:50])
        await site.produce(partition, records[50:])
        assert await site.places(partition) == "FFww"
        assert await site.read(partition) == records
        assert await site.read(partition, bytes_max=300) == records
        assert len(await site.files(topic)) == 2

    run(scenario)


def test_log_append_time_is_the_time_of_the_row_and_of_the_record() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.produce(topic.partitions[0], rows(3), append_ms=NOW_MS + 5_000)
        await site.produce(topic.partitions[0], rows(3), append_ms=NOW_MS + 6_000)
        before = await site.read(topic.partitions[0])
        assert {row["timestamp"] for row in before} == {NOW_MS + 5_000, NOW_MS + 6_000}
        await site.round()
        assert await site.read(topic.partitions[0]) == before
        assert [row["__timestamp"].timestamp() * 1000 for row in await site.table(topic)] == [
            row["timestamp"] for row in before
        ]

    run(scenario)


def test_a_batch_that_cannot_be_read_is_served_as_it_is_and_hidden_from_sql() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        await site.produce(partition, rows(5))
        await site.produce(partition, rows(5), damage=True)
        await site.produce(partition, rows(5, base=10))
        before = await site.read(partition)
        assert len(before) == 11, "two good batches, and one row for the one that cannot be read"
        done = await site.round()
        assert done.committed == 1
        assert await site.read(partition) == before
        (span,) = (await site.view(partition)).spans
        assert len(span.files) == 2  # type: ignore[union-attr]
        assert [row["__offset"] for row in await site.table(topic)] == [*range(5), *range(10, 15)]
        log = await site.table(topic, "log")
        assert [row["__offset"] for row in log] == [*range(6), *range(10, 15)]
        assert [row.get("__form") for row in log if row["__offset"] == 5] == [Form.RAW_BATCH]

    run(scenario)


def test_a_damaged_batch_is_refused_in_the_log_and_in_the_table_whoever_gave_its_time() -> None:
    async def scenario(site: Site) -> None:
        sent = [rows(1)[0] | {"headers": [{"key": "amount", "value": b"100"}]}]  # damaged, it still reads as a record
        for append_ms in (-1, NOW_MS + 5):
            topic = await site.topic(f"by-{append_ms}")
            await site.produce(topic.partitions[0], sent, append_ms=append_ms, damage=True)
            for place in "wF":
                assert await site.places(topic.partitions[0]) == place
                (refused,) = await site.read(topic.partitions[0])
                assert set(refused) == {"offset", "batch"}
                await site.round()

    run(scenario)


def test_a_topic_of_nothing_but_unreadable_batches_is_compacted_all_the_same() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.produce(topic.partitions[0], rows(5), damage=True)
        before = await site.read(topic.partitions[0])
        assert (await site.round()).committed == 1
        assert await site.read(topic.partitions[0]) == before
        assert await site.table(topic) == []

    run(scenario)


def test_the_wal_is_freed_and_one_copy_stays() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        segments = {await site.produce(topic.partitions[0], rows(10, base=10 * at)) for at in range(4)}
        await site.round()
        site.clock.ahead_ms += 2_000
        assert set(await site.store.deletable_segments(1_000, 100)) == segments
        await site.objects.delete([segment_key(segment) for segment in segments])
        assert len(await site.read(topic.partitions[0])) == 40

    run(scenario)


def test_snapshots_tell_the_job_the_ledger_and_the_watermark() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        await site.produce(topic.partitions[0], rows(10, timestamp_ms=NOW_MS))
        await site.produce(topic.partitions[1], rows(10, timestamp_ms=NOW_MS + 500))
        pipeline = site.pipeline()
        await site.round(pipeline)
        await site.produce(topic.partitions[1], rows(5, timestamp_ms=NOW_MS + 700))
        await site.round(pipeline)
        ledgers = []
        for summary in await summaries(site, topic):
            if JOB in summary:
                content = bytes(await TableObjects(site.objects).read(summary[LEDGER]))
                assert hashlib.sha256(content).hexdigest() == summary[LEDGER_HASH]
                ledgers.append(json.loads(content))
                assert ledgers[-1]["job"] == summary[JOB]
        assert [ledger["partitions"] for ledger in ledgers] == [[[0, 0, 10], [1, 0, 10]], [[1, 10, 15]]]
        marks = [summary[WATERMARK] for summary in await summaries(site, topic) if WATERMARK in summary]
        assert marks == [str(NOW_MS + 9), str(NOW_MS + 704)]

    run(scenario)


def test_records_deleted_before_a_round_do_not_come_back_as_rows() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        await site.produce(partition, rows(10))
        await site.produce(partition, rows(10, base=10))
        await site.store.delete_records(partition, 13)
        await site.round()
        assert [row["__offset"] for row in await site.table(topic)] == list(range(13, 20))
        assert [row["offset"] for row in await site.read(partition)] == list(range(13, 20))

    run(scenario)


def test_every_topic_has_a_table_also_one_without_records() -> None:
    async def scenario(site: Site) -> None:
        names = ("Shop.Orders-v2", "shop_orders_v2", "files", "idle")
        topics = [await site.topic(name) for name in names]
        assert (await site.round()).was_idle
        pointers = [await site.store.tables.table_of_topic(topic.id) for topic in topics]
        assert [pointer and pointer.name for pointer in pointers] == [
            "shop_orders_v2",
            "shop_orders_v2_2",
            "files_topic",
            "idle",
        ]
        assert await site.table(topics[3]) == []

    run(scenario)


def test_an_idle_topic_costs_neither_a_task_nor_a_commit() -> None:
    async def scenario(site: Site) -> None:
        busy, idle = await site.topic("busy"), await site.topic("idle")
        pipeline = site.pipeline()
        await site.produce(idle.partitions[0], rows(3))
        await site.round(pipeline)
        before = (await site.store.tables.table_of_topic(idle.id), len(site.rewriter.tasks))
        await site.produce(busy.partitions[0], rows(3))
        await site.round(pipeline)
        assert len(site.rewriter.tasks) == before[1] + 1
        assert await site.store.tables.table_of_topic(idle.id) == before[0]
        assert (await site.round(pipeline)).was_idle

    run(scenario)


def test_a_wish_is_granted_before_its_time_and_only_once() -> None:
    async def scenario(site: Site) -> None:
        topic, other = await site.topic("a"), await site.topic("b")
        pipeline = site.pipeline(limits=PlanLimits(freshness_ms=600_000))
        await site.produce(topic.partitions[0], rows(3))
        await site.produce(other.partitions[0], rows(3))
        assert (await site.round(pipeline)).was_idle
        await site.store.jobs.ask_compaction([topic.id])
        assert (await site.round(pipeline)).committed == 1
        assert await site.places(topic.partitions[0]) == "F"
        assert await site.places(other.partitions[0]) == "w"
        assert await site.store.jobs.asked_compactions() == frozenset()
        await site.produce(topic.partitions[0], rows(3))
        assert (await site.round(pipeline)).was_idle
        await site.store.jobs.ask_compaction([topic.id, other.id])
        assert (await site.round(pipeline)).committed == 2

    run(scenario)


def test_a_wish_that_comes_during_a_round_is_not_granted_by_it() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        pipeline = site.pipeline(limits=PlanLimits(freshness_ms=600_000))
        await site.produce(topic.partitions[0], rows(3))
        await site.store.jobs.ask_compaction([topic.id])
        rewrite = site.rewriter.rewrite

        async def meanwhile(tasks: Sequence[RewriteTask]) -> list[TaskResult]:
            site.clock.ahead_ms += 1_000
            await site.produce(topic.partitions[0], rows(3))
            await site.store.jobs.ask_compaction([topic.id])
            return await rewrite(tasks)

        site.rewriter.rewrite = meanwhile  # type: ignore[method-assign]
        assert (await site.round(pipeline)).committed == 1
        site.rewriter.rewrite = rewrite  # type: ignore[method-assign]
        assert await pipeline.has_new_requests()
        assert (await site.round(pipeline)).committed == 1
        assert await site.places(topic.partitions[0]) == "FF"
        assert not await pipeline.has_new_requests()

    run(scenario)


def test_another_freshness_holds_from_the_next_round_on() -> None:
    async def scenario(site: Site) -> None:
        topic, other = (
            await site.topic("a", lakestream_freshness="1h"),
            await site.topic("b", lakestream_freshness="1h"),
        )
        pipeline = site.pipeline()
        await site.produce(topic.partitions[0], rows(3))
        await site.produce(other.partitions[0], rows(3))
        site.clock.ahead_ms += 20_000
        assert (await site.round(pipeline)).was_idle
        await change_freshness(site, topic, "10s")
        assert (await site.round(pipeline)).committed == 1
        assert await site.places(topic.partitions[0]) == "F"
        assert await site.places(other.partitions[0]) == "w"

    run(scenario)


def test_rounds_are_short_while_any_topic_is_fast() -> None:
    async def scenario(site: Site) -> None:
        slow, quiet = await site.topic("slow"), await site.topic("quiet", lakestream_freshness="1s")
        for at in range(24):
            await site.produce(slow.partitions[0], rows(5, base=5 * at))
        pipeline = site.pipeline(limits=PlanLimits(freshness_ms=0, short_round_bytes_max=600))
        short = await site.round(pipeline)
        assert 0 < short.bytes <= 600
        await site.produce(quiet.partitions[0], rows(1))
        site.clock.ahead_ms += 1_000
        assert (await site.round(pipeline)).committed == 2, "the fast topic is in the next round"
        await change_freshness(site, quiet, "1m")
        assert (await site.round(pipeline)).bytes > 600
        assert "w" not in await site.places(slow.partitions[0])

    run(scenario)


def test_a_long_debt_is_paid_in_instalments() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        for at in range(12):
            await site.produce(topic.partitions[0], rows(5, base=5 * at))
        pipeline = site.pipeline(limits=PlanLimits(freshness_ms=0, round_bytes_max=600))
        rounds = 0
        while not (await site.round(pipeline)).was_idle:
            rounds += 1
        assert rounds > 2
        assert [row["__offset"] for row in await site.table(topic)] == list(range(60))

    run(scenario)


# --- what is wrong with one topic --------------------------------------------------------------------


def test_a_lost_segment_holds_up_its_own_topic_alone() -> None:
    async def scenario(site: Site) -> None:
        bad, good = await site.topic("bad"), await site.topic("good")
        lost = await site.produce(bad.partitions[0], rows(5))
        await site.produce(good.partitions[0], rows(5))
        await site.objects.delete([segment_key(lost)])
        pipeline = site.pipeline()
        done = await site.round(pipeline)
        assert (done.committed, done.failed) == (1, 1)
        assert await site.places(good.partitions[0]) == "F"
        assert await site.places(bad.partitions[0]) == "w"
        leftovers = {key for key in await site.keys("tables/") if key.endswith(".parquet")}
        assert len(leftovers) == 1, "of the failed job nothing is left"

    run(scenario)


def test_a_table_file_deleted_by_hand_is_named_and_other_topics_go_on() -> None:
    async def scenario(site: Site) -> None:
        bad, good = await site.topic("bad"), await site.topic("good")
        pipeline = site.pipeline()
        for topic in (bad, good):
            await site.produce(topic.partitions[0], rows(5))
        await site.round(pipeline)
        (lost,) = await site.files(bad)
        await TableObjects(site.objects).delete([lost])
        with pytest.raises(ObjectMissing, match=lost.rpartition("/")[2]):
            await site.read(bad.partitions[0])
        for topic in (bad, good):
            await site.produce(topic.partitions[0], rows(5, base=5))
        assert (await site.round(pipeline)).committed == 2
        assert len(await site.read(good.partitions[0])) == 10

    run(scenario)


def test_a_cut_segment_is_named_in_the_error() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        segment = await site.produce(topic.partitions[0], rows(5))
        content = bytes(await site.objects.get(segment_key(segment)))
        await site.objects.delete([segment_key(segment)])
        await site.objects.put(segment_key(segment), [content[:-10]])
        assert (await site.round()).failed == 1
        (result,) = await site.rewriter.rewrite(list(site.rewriter.tasks))
        assert segment in (result.error or "")
        with pytest.raises(SegmentLost):
            await site.read(topic.partitions[0])

    run(scenario)


async def summaries(site: Site, topic: Topic) -> list[dict[str, str]]:
    return [snapshot["summary"] for snapshot in (await site.metadata(topic))["snapshots"]]


# --- the two branches --------------------------------------------------------------------------------


async def heads(site: Site, topic: Topic) -> dict[str, int]:
    return {name: ref["snapshot-id"] for name, ref in (await site.metadata(topic))["refs"].items()}


def test_branches_share_a_snapshot_until_main_is_changed_and_then_both_get_every_row_once() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        pipeline = site.pipeline()
        await site.produce(partition, rows(10))
        await site.round(pipeline)
        together = await heads(site, topic)
        assert together["main"] == together["log"]
        await site.stranger_changes_main(topic)
        await site.produce(partition, rows(10, base=10))
        await site.round(pipeline)
        await site.produce(partition, rows(10, base=20))
        await site.round(pipeline)
        apart = await heads(site, topic)
        assert apart["main"] != apart["log"]
        for branch in ("main", "log"):
            assert [row["__offset"] for row in await site.table(topic, branch)] == list(range(30))
        assert len(await site.read(partition)) == 30

    run(scenario)


def test_every_snapshot_of_main_that_adds_rows_has_a_manifest_of_its_own() -> None:
    """Engines that follow a branch look only at manifests which the snapshot itself added."""

    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.stranger_changes_main(topic)
        pipeline = site.pipeline()
        for first in range(0, 40, 10):
            await site.produce(topic.partitions[0], rows(10, base=first))
            await site.round(pipeline)
        added = [
            int(snapshot["summary"].get("added-records", "0"))
            for snapshot in (await site.metadata(topic))["snapshots"]
            if JOB in snapshot["summary"]
        ]
        assert added == [10] * 8, "one snapshot of each branch for each job"

    run(scenario)
