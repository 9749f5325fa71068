"""Offsets: committed by the owner, kept as they were given, expired when nobody needs them."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import IllegalGeneration, NotCoordinator
from lakestream.model.group import CommittedOffset, TopicPartition
from lakestream.model.topic import Topic
from tests.behaviour.groups.saved import at, saved
from tests.behaviour.metadata.stage import Stage, batch, laid_out

DAY_MS = 24 * 3_600_000
LIMIT = 100


async def claimed(stage: Stage, store: MetadataStore, group: str = "g") -> int:
    claim = await store.groups.claim_group(group, await stage.broker(store, ttl_ms=100 * DAY_MS), create=True)
    assert claim is not None
    return claim.epoch


async def commit(store: MetadataStore, epoch: int, topic: Topic, group: str = "g", **offsets: int) -> None:
    await store.groups.commit_offsets(group, epoch, generation=-1, offsets=at(topic, **offsets), retention_ms=None)


def test_offsets_come_back_as_they_were_given(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 3), await claimed(stage, store)
        partition = TopicPartition(topic.id, 1)
        given = CommittedOffset(2**62, 7, "nul \0 and ü")
        await store.groups.commit_offsets("g", epoch, generation=-1, offsets={partition: given}, retention_ms=None)
        assert await store.groups.fetch_offsets("g", None) == {partition: given}
        assert await store.groups.fetch_offsets("g", list(at(topic, p0=0, p1=0))) == {partition: given}
        assert await store.groups.fetch_offsets("other", None) == {}

    stage.run(scenario)


def test_a_later_commit_replaces_only_its_own_partitions(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 3), await claimed(stage, store)
        await commit(store, epoch, topic, p0=5, p1=6)
        await commit(store, epoch, topic, p1=2, p2=9)
        assert await store.groups.fetch_offsets("g", None) == at(topic, p0=5, p1=2, p2=9)
        await store.groups.delete_offsets("g", epoch, list(at(topic, p0=0, p1=0)))
        assert await store.groups.fetch_offsets("g", None) == at(topic, p2=9)

    stage.run(scenario)


def test_a_commit_of_a_generation_that_has_passed_is_refused(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store), await claimed(stage, store)
        await store.groups.save_group("g", epoch, saved(generation=4))

        async def commit_in(generation: int, offset: int) -> None:
            await store.groups.commit_offsets(
                "g", epoch, generation=generation, offsets=at(topic, p0=offset), retention_ms=None
            )

        await commit_in(4, 10)
        with pytest.raises(IllegalGeneration):
            await commit_in(3, 11)
        assert await store.groups.fetch_offsets("g", None) == at(topic, p0=10)
        await commit_in(-1, 12)
        assert await store.groups.fetch_offsets("g", None) == at(topic, p0=12)

    stage.run(scenario)


def test_commits_and_claims_at_once_leave_no_write_of_an_earlier_owner(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 4), await claimed(stage, store)
        lease = await stage.broker(store, 2)
        commits = [commit(store, epoch, topic, p0=n, p1=n, p2=n, p3=n) for n in range(20)]
        claim = store.groups.claim_group("g", lease, create=False)
        *_, new = await asyncio.gather(*commits, claim, return_exceptions=True)
        before = await store.groups.fetch_offsets("g", None)
        await asyncio.gather(commit(store, epoch, topic, p0=99), return_exceptions=True)
        assert await store.groups.fetch_offsets("g", None) == before
        await commit(store, new.epoch, topic, p0=100)  # type: ignore[union-attr]

    stage.run(scenario)


def test_commits_of_many_groups_at_once_are_judged_one_by_one(stage: Stage) -> None:
    """Those that wait together may be stored together; what is wrong with one is no other's concern."""
    names = ["plain", 'quoted " and \\', "ünï \U0001f600", "tab\tand\nline", "gone", "moved on", "overtaken"]

    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store, 300)
        epochs = {name: await claimed(stage, store, name) for name in names}
        await store.groups.save_group("moved on", epochs["moved on"], saved(generation=4))
        await store.groups.delete_groups({"gone": epochs["gone"]})
        await claimed(stage, store, "overtaken")
        all_of_it = {TopicPartition(topic.id, number): CommittedOffset(number) for number in range(300)}
        commits = [
            store.groups.commit_offsets(name, epochs[name], generation=3, offsets=all_of_it, retention_ms=None)
            for name in names
        ]
        done = await asyncio.gather(*commits, return_exceptions=True)
        assert [type(one) for one in done] == [*[type(None)] * 4, NotCoordinator, IllegalGeneration, NotCoordinator]
        for name, problem in zip(names, done, strict=True):
            assert await store.groups.fetch_offsets(name, None) == (all_of_it if problem is None else {}), name

    stage.run(scenario)


def test_offsets_of_a_deleted_topic_are_gone_also_when_its_name_comes_back(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, kept, epoch = await stage.topic(store), await stage.topic(store), await claimed(stage, store)
        await commit(store, epoch, topic, p0=5)
        await commit(store, epoch, kept, p0=6)
        await store.delete_topic(topic.id)
        assert await store.groups.fetch_offsets("g", None) == at(kept, p0=6)
        await commit(store, epoch, topic, p0=7)  # it was under way when the topic went
        assert await store.groups.fetch_offsets("g", list(at(topic, p0=0))) == {}
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 1

    stage.run(scenario)


def test_offsets_without_members_expire_after_their_commit(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 2), await claimed(stage, store)
        await commit(store, epoch, topic, p0=5)
        stage.pass_time(DAY_MS // 2)
        await commit(store, epoch, topic, p1=6)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 0
        stage.pass_time(DAY_MS // 2)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 1
        assert await store.groups.fetch_offsets("g", None) == at(topic, p1=6)
        stage.pass_time(DAY_MS)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 1
        assert await store.groups.list_groups() == []

    stage.run(scenario)


def test_a_group_that_had_members_keeps_its_offsets_from_when_they_left(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store), await claimed(stage, store)
        await store.groups.save_group("g", epoch, saved(subscribed=frozenset({topic.name})))
        await commit(store, epoch, topic, p0=5)
        stage.pass_time(3 * DAY_MS)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 0
        await store.groups.save_group("g", epoch, saved(empty=True))
        stage.pass_time(DAY_MS // 2)
        await store.groups.save_group("g", epoch, saved(empty=True, state=b"again"))  # still empty, from the same time
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 0
        stage.pass_time(DAY_MS // 2)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 1

    stage.run(scenario)


def test_members_keep_the_offsets_of_what_they_read_and_no_others(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        read, unread, epoch = await stage.topic(store), await stage.topic(store), await claimed(stage, store)
        await store.groups.save_group("g", epoch, saved(subscribed=frozenset({read.name, "no\0topic", 'quote"'})))
        await commit(store, epoch, read, p0=5)
        await commit(store, epoch, unread, p0=6)
        other = await claimed(stage, store, "secretive")
        await store.groups.save_group("secretive", other, saved(subscribed=None))
        await commit(store, other, unread, "secretive", p0=7)
        stage.pass_time(2 * DAY_MS)
        assert await store.groups.expire_offsets(DAY_MS, LIMIT) == 1
        assert await store.groups.fetch_offsets("g", None) == at(read, p0=5)
        assert await store.groups.fetch_offsets("secretive", None) == at(unread, p0=7)

    stage.run(scenario)


def test_a_client_may_say_how_long_its_offsets_are_kept(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store), await claimed(stage, store)
        await store.groups.commit_offsets("g", epoch, generation=-1, offsets=at(topic, p0=5), retention_ms=DAY_MS)
        stage.pass_time(DAY_MS - 60_000)
        assert await store.groups.expire_offsets(1, LIMIT) == 0
        stage.pass_time(60_000)
        assert await store.groups.expire_offsets(10 * DAY_MS, LIMIT) == 1

    stage.run(scenario)


def test_expiry_does_no_more_than_it_is_told_at_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 5), await claimed(stage, store)
        await commit(store, epoch, topic, p0=1, p1=1, p2=1, p3=1, p4=1)
        stage.pass_time(2 * DAY_MS)
        assert [await store.groups.expire_offsets(DAY_MS, 2) for _ in range(4)] == [2, 2, 1, 0]

    stage.run(scenario)


def test_lag_counts_what_is_in_the_log_behind_the_committed_offset(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, epoch = await stage.topic(store, 3), await claimed(stage, store)
        lease = await stage.broker(store, 7)
        batches = laid_out(*(batch(partition, records=10) for partition in topic.partitions))
        await store.commit_segment(stage.commit(lease, *batches))
        await store.delete_records(topic.partitions[1], 6)
        await commit(store, epoch, topic, p0=3, p1=2, p2=12)
        expected = [("g", topic.name, 0, 7), ("g", topic.name, 1, 4), ("g", topic.name, 2, 0)]
        assert await store.groups.lags(LIMIT) == expected
        assert await store.groups.lags(2) == expected[:2]

    stage.run(scenario)
