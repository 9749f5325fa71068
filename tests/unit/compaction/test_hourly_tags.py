"""Hourly tags: the table as it was when an hour began can be read for three days, unless retention takes it."""

from typing import Any

from lakestream.catalog.spec.requests import TableChange
from lakestream.catalog.topic.hourly_tags import HOUR_MS, KEPT_MS, is_hourly, tag_name
from lakestream.model.table import STREAMS, TablePointer
from lakestream.model.topic import Topic
from tests.unit.compaction.breaking import Fate
from tests.unit.compaction.site import Site, rows, run
from tests.unit.compaction.test_gateway_faults import gateway

GRACE_MS = 60_000


async def to_the_middle_of_an_hour(site: Site) -> None:
    site.clock.ahead_ms += HOUR_MS + HOUR_MS // 2 - site.clock.wall_ms() % HOUR_MS


async def pointer_of(site: Site, topic: Topic) -> TablePointer:
    pointer = await site.store.tables.table_of_topic(topic.id)
    assert pointer is not None
    return pointer


async def commit(site: Site, topic: Topic, base: int) -> None:
    await site.produce(topic.partitions[0], rows(10, base=base))
    await site.round()


async def tags(site: Site, topic: Topic) -> dict[str, Any]:
    refs: dict[str, Any] = (await site.metadata(topic))["refs"]
    return {name: ref for name, ref in refs.items() if ref["type"] == "tag"}


async def offsets_at(site: Site, topic: Topic, tag: str) -> list[int]:
    return [row["__offset"] for row in await site.table(topic, tag)]


async def stranger_commits(site: Site, *updates: Any) -> None:
    change = TableChange(namespace=STREAMS, name="orders", requirements=[], updates=list(updates))
    await gateway(site, Fate()).commit([change])


def test_the_first_commit_of_an_hour_tags_what_was_there_when_it_began() -> None:
    async def scenario(site: Site) -> None:
        await to_the_middle_of_an_hour(site)
        topic = await site.topic()
        for base in (0, 10):
            await commit(site, topic, base)
        assert await tags(site, topic) == {}, "nothing was there when this hour began"
        site.clock.ahead_ms += HOUR_MS
        second = tag_name(site.clock.wall_ms())
        for base in (20, 30):
            await commit(site, topic, base)
        assert set(await tags(site, topic)) == {second}
        assert await offsets_at(site, topic, second) == list(range(20))
        site.clock.ahead_ms += 3 * HOUR_MS
        fifth = tag_name(site.clock.wall_ms())
        await commit(site, topic, 40)
        assert set(await tags(site, topic)) == {second, fifth}, "hours without rows have none"
        assert await offsets_at(site, topic, fifth) == list(range(40))

    run(scenario)


def test_a_tag_outlives_expiry_by_number_for_three_days_by_icebergs_rules_and_ours() -> None:
    async def scenario(site: Site) -> None:
        await to_the_middle_of_an_hour(site)
        topic = await site.topic()
        await commit(site, topic, 0)
        site.clock.ahead_ms += 10 * HOUR_MS
        await commit(site, topic, 10)
        ((name, tag),) = (await tags(site, topic)).items()
        (snapshot,) = [
            one for one in (await site.metadata(topic))["snapshots"] if one["snapshot-id"] == tag["snapshot-id"]
        ]
        hour_ms = site.clock.wall_ms() // HOUR_MS * HOUR_MS
        assert snapshot["timestamp-ms"] + tag["max-ref-age-ms"] == hour_ms + KEPT_MS
        for base in (20, 30, 40):
            await commit(site, topic, base)
        expired = await site.commits().expire(await pointer_of(site, topic), keep=1)
        assert expired is not None
        await site.store.tables.move_tables([expired.move])
        await site.commits().finish(expired)
        assert await offsets_at(site, topic, name) == list(range(10))
        assert len((await site.metadata(topic))["snapshots"]) == 2
        site.clock.ahead_ms += KEPT_MS
        await commit(site, topic, 50)
        assert name in await tags(site, topic), "three days are not over"
        site.clock.ahead_ms += HOUR_MS
        await commit(site, topic, 60)
        assert name not in await tags(site, topic)
        gone = await site.commits().expire(await pointer_of(site, topic), keep=1)
        assert gone is not None
        await site.store.tables.move_tables([gone.move])
        await site.commits().finish(gone)
        assert tag["snapshot-id"] not in [one["snapshot-id"] for one in (await site.metadata(topic))["snapshots"]]
        assert [row["__offset"] for row in await site.table(topic)] == list(range(70)), "rows live on in later ones"
        assert [row["offset"] for row in await site.read(topic.partitions[0])] == list(range(70))

    run(scenario)


def test_a_tag_that_someone_drops_stays_dropped_and_tags_of_others_stay() -> None:
    async def scenario(site: Site) -> None:
        await to_the_middle_of_an_hour(site)
        topic = await site.topic()
        await commit(site, topic, 0)
        site.clock.ahead_ms += HOUR_MS
        await commit(site, topic, 10)
        ((name, tag),) = (await tags(site, topic)).items()
        theirs = {"action": "set-snapshot-ref", "ref-name": "hourly-mine", "type": "tag"}
        await stranger_commits(
            site,
            {"action": "remove-snapshot-ref", "ref-name": name},
            {**theirs, "snapshot-id": tag["snapshot-id"]},
        )
        await commit(site, topic, 20)
        assert set(await tags(site, topic)) == {"hourly-mine"}
        site.clock.ahead_ms += KEPT_MS + 2 * HOUR_MS
        await commit(site, topic, 30)
        assert "hourly-mine" in await tags(site, topic) and not is_hourly("hourly-mine")

    run(scenario)


def test_retention_takes_tags_with_the_records_that_they_would_keep() -> None:
    async def scenario(site: Site) -> None:
        await to_the_middle_of_an_hour(site)
        topic = await site.topic()
        await commit(site, topic, 0)
        (first,) = await site.files(topic)
        site.clock.ahead_ms += HOUR_MS
        await commit(site, topic, 10)
        ((name, _),) = (await tags(site, topic)).items()
        await site.store.delete_records(topic.partitions[0], 10)
        pipeline = site.pipeline(grace_ms=GRACE_MS)
        await pipeline.upkeep()
        assert await offsets_at(site, topic, name) == list(range(10)), "until the grace is over"
        site.clock.ahead_ms += GRACE_MS + 1
        await pipeline.upkeep()
        assert await tags(site, topic) == {}
        assert not [key for key in await site.keys("tables/") if first.endswith(key)]
        assert {key for key in await site.keys("tables/") if key.endswith(".parquet")} <= await site.referred(topic)

    run(scenario)
