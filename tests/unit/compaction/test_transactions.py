"""Tables and transactions: aborted records and markers never become rows, and a transaction's rows come together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.job import JobCommit
from lakestream.model.place import Span
from lakestream.model.segment import ADDED_BY_WRITING, SegmentBatch, SegmentCommit
from lakestream.model.table_errors import CommitConflict
from lakestream.model.topic import Topic
from lakestream.model.transaction import ProducerAsk, ProducerIdentity, TransactionalProducer
from lakestream.storage.records.header import TRANSACTIONAL_BIT, read_header, seal
from lakestream.storage.wal.segment import MAGIC, segment_key
from lakestream.table.compaction.plan import PlanLimits
from tests.unit.compaction.site import Row, Site, batch_of, rows, run


@dataclass
class Writer:
    """A transactional producer on a site."""

    site: Site
    id: str
    identity: ProducerIdentity = field(default=ProducerIdentity(-1, -1))
    sequences: dict[int, int] = field(default_factory=dict)

    @property
    def store(self) -> MetadataStore:
        return self.site.store

    async def begin(self) -> "Writer":
        (spare,) = await self.store.take_producer_ids(1)
        ask = ProducerAsk(transactional_id=self.id, timeout_ms=60_000, known=None, spare_producer_id=spare)
        self.identity = (await self.store.transactions.begin_producer(ask)).identity
        return self

    async def write(self, partition: int, records: list[Row]) -> None:
        data = bytearray(batch_of(records))
        sequence = self.sequences.get(partition, 0)
        self.sequences[partition] = sequence + len(records)
        header = read_header(data)
        seal(
            memoryview(data),
            header._replace(
                attributes=header.attributes | TRANSACTIONAL_BIT,
                producer_id=self.identity.producer_id,
                producer_epoch=self.identity.epoch,
                base_sequence=sequence,
            ),
        )
        lease = await self.site.broker()
        segment = self.site.ids.ulid()
        await self.site.objects.put(segment_key(segment), [MAGIC, bytes(data)])
        latest = max(row["timestamp"] for row in records)
        batch = SegmentBatch(
            partition, len(MAGIC), len(data), len(records), latest, -1, *self.identity, sequence, ADDED_BY_WRITING
        )
        await self.store.commit_segment(
            SegmentCommit(
                segment=segment, broker_id=1, incarnation=lease.incarnation, bytes=len(data), batches=(batch,)
            )
        )

    async def end(self, *, committed: bool = True) -> None:
        producer = TransactionalProducer(self.id, *self.identity)
        ending = await self.store.transactions.end(producer, committed=committed, bump=True, spare_producer_id=None)
        self.identity = ending.identity
        self.sequences.clear()


def placed(records: list[Row], base: int) -> list[Row]:
    return [{**row, "offset": base + at} for at, row in enumerate(records)]


def test_aborted_records_and_markers_do_not_become_rows() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        one, two = await Writer(site, "one").begin(), await Writer(site, "two").begin()
        await one.write(partition, rows(2))
        await site.produce(partition, rows(3))
        await two.write(partition, rows(2))
        await one.end(committed=False)  # offset 7
        await two.end()  # offset 8
        expected = placed(rows(3), 2) + placed(rows(2), 5)
        assert (await site.round()).committed == 1
        view = await site.view(partition)
        assert (view.tail.tabled_until, await site.places(partition)) == (9, "F")
        assert view.aborted == (), "nothing of it is left that a reader would have to drop"
        for branch in ("main", "log"):
            assert [row["__offset"] for row in await site.table(topic, branch)] == [row["offset"] for row in expected]
        assert await site.read(partition) == expected
        assert await site.read(partition, bytes_max=1) == expected
        await site.produce(partition, rows(1))
        assert (await site.round()).committed == 1
        assert await site.read(partition) == expected + placed(rows(1), 9)

    run(scenario)


def test_a_job_of_nothing_but_holes_frees_the_wal() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        first, second = topic.partitions
        writer = await Writer(site, "tx").begin()
        await writer.write(first, rows(4))
        await writer.end(committed=False)
        assert (await site.round()).committed == 1
        assert (await site.view(first)).tail.tabled_until == 5
        assert await site.table(topic, "log") == []
        assert await site.read(first) == []
        await writer.write(first, rows(1))
        await writer.end(committed=False)
        await site.produce(second, rows(2))
        assert (await site.round()).committed == 1, "one partition has rows, the other a hole"
        assert await site.read(first) == []
        assert await site.read(second) == rows(2)
        await site.produce(first, rows(1))
        assert (await site.round()).committed == 1
        assert await site.read(first) == placed(rows(1), 7)

    run(scenario)


def test_an_open_transaction_holds_up_its_own_topic_alone() -> None:
    async def scenario(site: Site) -> None:
        held, free = await site.topic("held"), await site.topic("free")
        writer = await Writer(site, "tx").begin()
        await site.produce(held.partitions[0], rows(2))
        await writer.write(held.partitions[0], rows(1))
        await site.produce(held.partitions[0], rows(3))
        await site.produce(free.partitions[0], rows(4))
        assert (await site.round()).committed == 2
        assert len(await site.table(held)) == 2
        assert len(await site.table(free)) == 4
        assert (await site.round()).committed == 0
        await writer.end()
        assert (await site.round()).committed == 1
        assert [row["__offset"] for row in await site.table(held)] == [0, 1, 2, 3, 4, 5]

    run(scenario)


def test_the_rows_of_a_transaction_come_into_the_table_together() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        first, second = topic.partitions
        whole, late = await Writer(site, "whole").begin(), await Writer(site, "late").begin()
        await whole.write(first, rows(2))
        await late.write(second, rows(1))
        await whole.write(second, rows(2))
        await whole.end()
        assert (await site.round()).committed == 0, "its rows of the second partition lie behind an open transaction"
        await late.end()
        assert (await site.round()).committed == 1
        assert len(await site.table(topic)) == 5

    run(scenario)


def test_a_transaction_that_begins_while_a_round_is_planned_and_is_aborted_before_its_commit_has_no_rows() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        (partition,) = topic.partitions
        await site.produce(partition, rows(2))
        writer = await Writer(site, "tx").begin()
        read_spans, commit = site.store.jobs.untabled_spans, site.store.jobs.commit_job

        async def after_a_beginning(*args: Any) -> Any:
            await writer.write(partition, rows(3))
            return await read_spans(*args)

        async def after_an_abort(job: JobCommit) -> str:
            await writer.end(committed=False)
            return await commit(job)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(site.store.jobs, "untabled_spans", after_a_beginning)
            patch.setattr(site.store.jobs, "commit_job", after_an_abort)
            assert (await site.round()).committed == 1
        assert [row["__offset"] for row in await site.table(topic)] == [0, 1]
        await site.produce(partition, rows(1))
        await site.round()
        assert [row["__offset"] for row in await site.table(topic)] == [0, 1, 6]

    run(scenario)


# --- several tables ----------------------------------------------------------------------------------


async def pointers(site: Site, *topics: Topic) -> list[str]:
    found = [await site.store.tables.table_of_topic(topic.id) for topic in topics]
    return [pointer.metadata_location for pointer in found if pointer is not None]


def test_the_tables_of_a_transaction_move_together_though_one_of_them_is_not_due() -> None:
    async def scenario(site: Site) -> None:
        fast, slow = (
            await site.topic("fast", lakestream_freshness="1s"),
            await site.topic("slow", lakestream_freshness="1h"),
        )
        pipeline = site.pipeline(limits=PlanLimits())
        writer = await Writer(site, "tx").begin()
        await writer.write(fast.partitions[0], rows(2))
        await writer.write(slow.partitions[0], rows(3))
        await writer.end()
        before = await pointers(site, fast, slow)
        await site.store.jobs.ask_compaction([fast.id])
        assert (await site.round(pipeline)).committed == 2
        assert (len(await site.table(fast)), len(await site.table(slow))) == (2, 3)
        assert not {*before} & {*await pointers(site, fast, slow)}

    run(scenario)


def test_a_topic_that_cannot_be_compacted_holds_up_its_companions_for_one_round() -> None:
    async def scenario(site: Site) -> None:
        good, bad, free = await site.topic("good"), await site.topic("bad"), await site.topic("free")
        await site.produce(good.partitions[0], rows(1))
        await site.produce(bad.partitions[0], rows(1))
        await site.round()
        writer = await Writer(site, "tx").begin()
        for topic in (good, bad):
            await writer.write(topic.partitions[0], rows(2))
        await writer.end()
        await site.produce(free.partitions[0], rows(4))
        (view,) = await site.store.views([ViewAsk(bad.partitions[0], 1, 1)])
        assert view is not None
        assert isinstance(view.spans[0], Span)
        await site.objects.delete([segment_key(view.spans[0].segment)])
        pipeline = site.pipeline()
        done = await site.round(pipeline)
        assert (done.committed, done.failed) == (1, 2), "the two are dropped together, and a third is not concerned"
        assert [len(await site.table(topic)) for topic in (good, bad, free)] == [1, 1, 4]
        assert (await site.round(pipeline)).committed == 1
        assert [len(await site.table(topic)) for topic in (good, bad)] == [3, 1]

    run(scenario)


def test_a_commit_of_several_tables_goes_through_after_someone_else_moved_one() -> None:
    async def scenario(site: Site) -> None:
        one, two = await site.topic("one"), await site.topic("two")
        writer = await Writer(site, "tx").begin()
        for topic in (one, two):
            await writer.write(topic.partitions[0], rows(2))
        await writer.end()
        commit, calls = site.store.jobs.commit_jobs, 0

        async def outrun(commits: Sequence[JobCommit]) -> list[str]:
            nonlocal calls
            calls += 1
            if calls == 1:
                moved = replace(commits[1].move, expected_location="file:///of another's making")
                with pytest.raises(CommitConflict):
                    await commit([commits[0], replace(commits[1], move=moved)])
                assert [len(await site.table(topic)) for topic in (one, two)] == [0, 0], "neither has moved"
                raise CommitConflict("someone was faster")
            return await commit(commits)

        site.store.jobs.commit_jobs = outrun  # type: ignore[method-assign]
        assert (await site.round()).committed == 2
        assert calls == 2
        assert [len(await site.table(topic)) for topic in (one, two)] == [2, 2]

    run(scenario)


def test_records_deleted_from_one_topic_do_not_hold_up_the_other() -> None:
    async def scenario(site: Site) -> None:
        deleted, kept = await site.topic("deleted"), await site.topic("kept")
        writer = await Writer(site, "tx").begin()
        for topic in (deleted, kept):
            await writer.write(topic.partitions[0], rows(2))
        await writer.end()
        await site.store.delete_records(deleted.partitions[0], 3)
        assert (await site.round()).committed == 1
        assert len(await site.table(kept)) == 2

    run(scenario)
