"""What the WAL takes at rest, and what of it lies nowhere else."""

from lakestream.metadata.rules.wal_copies import SECOND_MS
from lakestream.metadata.store import MetadataStore, WalSize
from tests.behaviour.jobs.work import RECORDS, Work, set_up
from tests.behaviour.metadata.stage import Stage, batch, laid_out

APART_MS = 3 * SECOND_MS
"""Commits so far from one another are told apart."""


def test_what_moved_into_the_table_is_at_rest_twice_until_its_objects_are_gone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.wal_size() == WalSize(0, 0)
        work = await set_up(stage, store, 1, 2, 3)
        before = await store.wal_size()
        assert before.needed_bytes == 300
        assert before.bytes >= before.needed_bytes
        assert await store.wal_copies() == {}
        await work.compact(20)
        assert await store.wal_size() == WalSize(before.bytes, 100)
        assert await store.wal_copies() == {work.topic.id: 200}
        stage.pass_time(1_001)
        gone = await store.deletable_segments(1_000, 100)
        assert len(gone) == 2
        await store.forget_segments(gone)
        after = await store.wal_size()
        assert after.needed_bytes == 100
        assert after.bytes < before.bytes

    stage.run(scenario)


def test_a_topic_has_copies_in_the_wal_until_the_objects_it_was_moved_from_are_gone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        quick, slow = await set_up(stage, store), await set_up(stage, store, partitions=2)
        for _ in range(3):
            await quick.produce(1)
            stage.pass_time(APART_MS)
        shared = await produced_together(stage, store, quick, slow)
        await quick.compact(40, cuts=[10, 30])
        assert await store.wal_copies() == {quick.topic.id: 400}, "what is in the table already, and nothing else"
        stage.pass_time(APART_MS)
        gone = await store.deletable_segments(0, 100)
        assert sorted(gone) == sorted(quick.segments), "the neighbour needs the one that it shares"
        await store.forget_segments(gone)
        assert await store.wal_copies() == {quick.topic.id: 100}, "it stays for the neighbour alone"
        await slow.compact(10)
        assert await store.wal_copies() == {quick.topic.id: 100, slow.topic.id: 200}
        stage.pass_time(1)
        assert await store.deletable_segments(0, 100) == [shared]
        await store.forget_segments([shared])
        assert await store.wal_copies() == {}

    stage.run(scenario)


async def produced_together(stage: Stage, store: MetadataStore, *works: Work) -> str:
    """One segment with a span for every partition of all of them."""
    partitions = [partition for work in works for partition in work.topic.partitions]
    batches = laid_out(*(batch(partition, records=RECORDS, time=1) for partition in partitions))
    commit = stage.commit(await stage.broker(store), *batches)
    await store.commit_segment(commit)
    for work in works:
        work.times.append(1)
    return commit.segment
