"""Retention reaches what was set aside and what was repaired: copies go with the records that they are copies of."""

from typing import Any

from lakestream.model.topic import Topic
from tests.unit.compaction.site import Site, run
from tests.unit.compaction.test_typed import asked, record

BAD = b"{broken"


async def produced(site: Site, topic: Topic, values: list[bytes], *, partition: int = 0) -> None:
    await site.produce(topic.partitions[partition], [record(value) for value in values])
    await site.round()


async def places(site: Site, topic: Topic, branch: str) -> list[tuple[int, int]]:
    return [(row["__partition"], row["__offset"]) for row in await site.table(topic, branch)]


def fixed(*offsets: int) -> dict[str, Any]:
    good = "eyJpZCI6IDd9"  # {"id": 7}
    return {"action": "retry", "chosen": [[0, at] for at in offsets], "fixes": [[0, at, good] for at in offsets]}


async def is_clean(site: Site, topic: Topic) -> bool:
    """Whether no data file lies there that no snapshot reaches."""
    there = {key for key in await site.keys("tables/") if key.endswith(".parquet")}
    return there <= await site.referred(topic)


def test_values_set_aside_leave_quarantine_with_their_records() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json")
        pipeline = site.pipeline(grace_ms=0)
        for id in (1, 2, 3):
            await produced(site, topic, [b'{"id": %d}' % id, BAD])
        assert await places(site, topic, "quarantine") == [(0, 1), (0, 3), (0, 5)]
        await site.store.delete_records(topic.partitions[0], 3)
        await pipeline.upkeep()
        assert await places(site, topic, "quarantine") == [(0, 3), (0, 5)], "the second file still has a record"
        await site.store.delete_records(topic.partitions[0], 4)
        for _ in range(2):
            await pipeline.upkeep()
        assert await places(site, topic, "quarantine") == [(0, 5)]
        assert await places(site, topic, "log") == [(0, 4), (0, 5)]
        assert await is_clean(site, topic)
        assert (await asked(site, topic, fixed(5))) == {"repaired": 1, "remaining": 0}
        assert await places(site, topic, "main") == [(0, 4), (0, 5)]

    run(scenario)


def test_repaired_rows_leave_main_with_their_records_and_what_is_still_set_aside_waits_for_its_own() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2, lakestream_value_format="json")
        pipeline = site.pipeline(grace_ms=0)
        await produced(site, topic, [b'{"id": 1}', BAD, BAD])
        await produced(site, topic, [b'{"id": 2}', BAD], partition=1)
        assert (await asked(site, topic, fixed(1))) == {"repaired": 1, "remaining": 2}
        assert await places(site, topic, "main") == [(0, 0), (0, 1), (1, 0)]
        await site.store.delete_records(topic.partitions[0], 3)
        for _ in range(2):
            await pipeline.upkeep()
        assert await places(site, topic, "main") == [(1, 0)], "the repaired row is gone as well"
        assert await places(site, topic, "quarantine") == [(0, 2), (1, 1)], (
            "one file, and partition 1 still has its own"
        )
        await site.store.delete_records(topic.partitions[1], 2)
        for _ in range(2):
            await pipeline.upkeep()
        for branch in ("main", "log", "quarantine"):
            assert await places(site, topic, branch) == []
        assert await is_clean(site, topic)

    run(scenario)


def test_a_copy_that_cannot_be_read_stays_and_holds_up_nothing_else() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic(lakestream_value_format="json")
        for id in (1, 2):
            await produced(site, topic, [b'{"id": %d}' % id, BAD])
        first, *_ = sorted(await site.files(topic, "quarantine"))
        (key,) = [key for key in await site.keys("tables/") if first.endswith(key)]
        await site.objects.delete([key])
        await site.store.delete_records(topic.partitions[0], 2)
        await site.pipeline(grace_ms=0).upkeep()
        assert first in await site.files(topic, "quarantine")
        assert await places(site, topic, "log") == [(0, 2), (0, 3)]

    run(scenario)
