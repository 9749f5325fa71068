"""What the WAL takes at rest, and what of it lies nowhere else."""

from lakestream.metadata.store import MetadataStore, WalSize
from tests.behaviour.jobs.work import set_up
from tests.behaviour.metadata.stage import Stage


def test_what_moved_into_the_table_is_at_rest_twice_until_its_objects_are_gone(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.wal_size() == WalSize(0, 0)
        work = await set_up(stage, store, 1, 2, 3)
        before = await store.wal_size()
        assert before.needed_bytes == 300
        assert before.bytes >= before.needed_bytes
        await work.compact(20)
        assert await store.wal_size() == WalSize(before.bytes, 100)
        stage.pass_time(1_001)
        gone = await store.deletable_segments(1_000, 100)
        assert len(gone) == 2
        await store.forget_segments(gone)
        after = await store.wal_size()
        assert after.needed_bytes == 100
        assert after.bytes < before.bytes

    stage.run(scenario)
