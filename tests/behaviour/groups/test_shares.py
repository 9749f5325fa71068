"""Share-partitions: owned under an epoch, saved together, reset and forgotten; and configs of groups."""

import asyncio
from dataclasses import replace

import pytest

from lakestream.metadata.share_partition import SavedShare, ShareProgress, ShareSave
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerLease
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.errors import BrokerFenced, InvalidGroupConfig, NotCoordinator
from lakestream.model.group import GroupKind, TopicPartition
from lakestream.model.topic import Topic
from tests.behaviour.groups.saved import saved
from tests.behaviour.metadata.stage import Stage, batch

DAY_MS = 24 * 3_600_000
STATE = SavedShare(3, 2, b"\0state")


async def share_group(stage: Stage, store: MetadataStore, name: str = "s") -> tuple[BrokerLease, int]:
    """A share group, and the epoch of its coordinator."""
    lease = await stage.broker(store, ttl_ms=100 * DAY_MS)
    claim = await store.groups.claim_group(name, lease, create=True)
    assert claim is not None
    await store.groups.save_group(name, claim.epoch, replace(saved(empty=True), kind=GroupKind.SHARE))
    return lease, claim.epoch


def places(topic: Topic) -> list[TopicPartition]:
    return [TopicPartition(topic.id, number) for number in range(len(topic.partitions))]


async def claimed(store: MetadataStore, lease: BrokerLease, *some: TopicPartition, group: str = "s") -> list[int]:
    claims = await store.shares.claim(group, some, lease)
    assert claims is not None
    return [claims.claims[place].epoch for place in some]


def test_a_share_partition_begins_without_a_state_and_keeps_what_is_saved(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, (lease, _) = await stage.topic(store, 2), await share_group(stage, store)
        first, second = places(topic)
        claims = await store.shares.claim("s", [first, second], lease)
        assert claims is not None and [claims.claims[one].state for one in (first, second)] == [None, None]
        epochs = [claims.claims[one].epoch for one in (first, second)]
        assert len(set(epochs)) == 2
        assert await store.shares.progress("s") == {one: ShareProgress(None, 0, 0) for one in (first, second)}
        done = await store.shares.save([ShareSave(epochs[0], STATE), ShareSave(epochs[1], SavedShare(0, 0, b""))])
        assert done.stored == frozenset(epochs)
        assert abs(done.now_ms - await store.now_ms()) < 60_000
        again = await store.shares.claim("s", [first], lease)
        assert again is not None and again.claims[first].state == STATE.state
        await store.commit_segment(stage.commit(await stage.broker(store, 2), batch(topic.partitions[0], records=10)))
        assert (await store.shares.progress("s"))[first].lag == 5

    stage.run(scenario)


def test_a_broker_that_was_overtaken_saves_nothing(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, (lease, _) = await stage.topic(store, 2), await share_group(stage, store)
        first, second = places(topic)
        mine, kept = await claimed(store, lease, first, second)
        (theirs,) = await claimed(store, await stage.broker(store, 2), first)
        late = await store.shares.save([ShareSave(mine, STATE), ShareSave(kept, STATE)])
        assert late.stored == {kept}
        assert (await store.shares.save([ShareSave(theirs, STATE._replace(start_offset=7))])).stored == {theirs}
        assert (await store.shares.progress("s"))[first].start_offset == 7

    stage.run(scenario)


def test_claims_and_saves_at_once_leave_one_owner(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, (lease, _) = await stage.topic(store, 8), await share_group(stage, store)
        some, other = places(topic), await stage.broker(store, 2)
        for _ in range(5):
            epochs = await claimed(store, lease, *some)
            saves = [store.shares.save([ShareSave(epoch, STATE) for epoch in reversed(epochs)]) for _ in range(4)]
            _, claims = await asyncio.gather(asyncio.gather(*saves), store.shares.claim("s", some[::2], other))
            stored = (await store.shares.save([ShareSave(epoch, STATE) for epoch in epochs])).stored
            assert stored == frozenset(epochs[1::2])
            assert claims is not None and {one.state for one in claims.claims.values()} <= {None, STATE.state}

    stage.run(scenario)


def test_only_share_groups_and_partitions_that_exist_are_claimed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, (lease, _) = await stage.topic(store), await share_group(stage, store)
        await store.groups.claim_group("classic", lease, create=True)
        for name in ("classic", "nobody"):
            assert await store.shares.claim(name, places(topic), lease) is None
        missing = TopicPartition(topic.id, 5)
        claims = await store.shares.claim("s", [*places(topic), missing], lease)
        assert claims is not None and list(claims.claims) == places(topic)
        with pytest.raises(BrokerFenced):
            await store.shares.claim("s", places(topic), replace(lease, incarnation=lease.incarnation + 1))

    stage.run(scenario)


def test_a_reset_overtakes_every_owner_and_a_forgotten_topic_begins_anew(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic, (lease, coordinator) = await stage.topic(store, 2), await share_group(stage, store)
        first, second = places(topic)
        (mine,) = await claimed(store, lease, first)
        await store.shares.reset("s", coordinator, {first: STATE, second: STATE._replace(start_offset=9)})
        assert (await store.shares.save([ShareSave(mine, SavedShare(50, 0, b""))])).stored == frozenset()
        assert [(await store.shares.progress("s"))[one].start_offset for one in (first, second)] == [3, 9]
        await store.shares.forget("s", coordinator, [topic.id])
        assert await store.shares.progress("s") == {}
        for verb in (store.shares.reset("s", 0, {first: STATE}), store.shares.forget("s", 0, [topic.id])):
            with pytest.raises(NotCoordinator):
                await verb

    stage.run(scenario)


def test_what_a_group_read_goes_with_the_group_and_with_the_topic(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        gone, kept = await stage.topic(store), await stage.topic(store)
        lease, epoch = await share_group(stage, store)
        (mine, _) = await claimed(store, lease, *places(gone), *places(kept))
        await store.delete_topic(gone.id)
        assert list(await store.shares.progress("s")) == places(kept)
        assert (await store.shares.save([ShareSave(mine, STATE)])).stored == frozenset()
        stage.pass_time(30 * DAY_MS)
        await store.groups.expire_offsets(DAY_MS, 10)
        assert [one.group for one in await store.groups.list_groups()] == ["s"]
        await store.groups.delete_groups({"s": epoch})
        assert await store.shares.progress("s") == {}

    stage.run(scenario)


def test_configs_of_groups_are_edited_one_by_one_and_raise_the_version(stage: Stage) -> None:
    def setting(name: str, value: str | None) -> ConfigEdit:
        return ConfigEdit(ConfigOperation.DELETE if value is None else ConfigOperation.SET, name, value)

    def refuse(configs: object) -> None:
        raise InvalidGroupConfig("no")

    async def scenario(store: MetadataStore) -> None:
        version = await store.shares.configs_version()
        await store.shares.edit_configs("g", [setting("one", "1"), setting("two", "2")], lambda configs: None)
        await store.shares.edit_configs("other", [setting("one", "9")], lambda configs: None)
        await store.shares.edit_configs("g", [setting("one", None), setting("two", "3")], lambda configs: None)
        with pytest.raises(InvalidGroupConfig):
            await store.shares.edit_configs("g", [setting("two", "4")], refuse)
        view = await store.shares.configs()
        assert {name: dict(configs) for name, configs in view.configs.items()} == {
            "g": {"two": "3"},
            "other": {"one": "9"},
        }
        assert view.version == await store.shares.configs_version() > version

    stage.run(scenario)
