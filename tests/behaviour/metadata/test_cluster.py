"""The cluster's id, its brokers and their leases."""

import asyncio

import pytest

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import BrokerFenced
from tests.behaviour.metadata.stage import TTL_MS, Stage, batch, broker_spec


def test_the_cluster_id_is_chosen_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        chosen = await store.cluster_id()
        assert len(chosen) == 22
        if stage.shared:
            assert await (await stage.open()).cluster_id() == chosen

    stage.run(scenario)


def test_stores_that_open_at_once_agree(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        if stage.shared:
            others = await asyncio.gather(*(stage.open() for _ in range(4)))
            assert {await other.cluster_id() for other in others} == {await store.cluster_id()}

    stage.run(scenario)


def test_the_stores_clock_is_near_ours(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert abs(await store.now_ms() - stage.clock.wall_ms()) < 60_000

    stage.run(scenario)


def test_a_registered_broker_is_live_until_it_leaves(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        second = await stage.broker(store, 2)
        await stage.broker(store, 1)
        live = await store.live_brokers()
        assert [broker.id for broker in live] == [1, 2]
        assert (live[1].host, live[1].port, live[1].rack, live[1].http) == ("127.0.0.1", 9094, None, "127.0.0.1:8080")
        assert live[1].incarnation == second.incarnation
        await store.leave_broker(second)
        assert [broker.id for broker in await store.live_brokers()] == [1]

    stage.run(scenario)


def test_a_lease_runs_out_unless_renewed(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        renewed, silent = await stage.broker(store, 1), await stage.broker(store, 2)
        stage.pass_time(TTL_MS // 2)
        await store.renew_broker(renewed)
        stage.pass_time(TTL_MS * 2 // 3)
        assert [broker.id for broker in await store.live_brokers()] == [1]
        await store.renew_broker(renewed)
        with pytest.raises(BrokerFenced):
            await store.renew_broker(silent)

    stage.run(scenario)


def test_taking_a_broker_id_fences_its_holder_at_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        topic = await stage.topic(store)
        old = await stage.broker(store)
        new = await stage.broker(store)
        assert new.incarnation > old.incarnation
        with pytest.raises(BrokerFenced):
            await store.renew_broker(old)
        with pytest.raises(BrokerFenced):
            await store.commit_segment(stage.commit(old, batch(topic.partitions[0])))
        await store.commit_segment(stage.commit(new, batch(topic.partitions[0])))

    stage.run(scenario)


def test_leaving_late_does_not_end_the_successors_lease(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        old = await stage.broker(store)
        new = await stage.broker(store)
        await store.leave_broker(old)
        await store.renew_broker(new)
        assert len(await store.live_brokers()) == 1

    stage.run(scenario)


def test_incarnations_rise_also_after_leaving(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        first = await stage.broker(store)
        await store.leave_broker(first)
        assert (await stage.broker(store)).incarnation > first.incarnation

    stage.run(scenario)


def test_a_broker_that_never_registered_is_fenced(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        with pytest.raises(BrokerFenced, match="broker 7"):
            await store.renew_broker(BrokerLease(broker_id=7, incarnation=1, ttl_ms=TTL_MS))

    stage.run(scenario)


def test_a_new_incarnation_may_have_a_new_address(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        await stage.broker(store)
        moved = broker_spec(1)
        await store.register_broker(type(moved)(id=1, host="elsewhere", port=1, rack="a", http="elsewhere:2"), TTL_MS)
        (live,) = await store.live_brokers()
        assert (live.host, live.port, live.rack, live.http) == ("elsewhere", 1, "a", "elsewhere:2")

    stage.run(scenario)


def test_one_holder_at_a_time_does_a_chore(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.take_duty("sweep", "a", 1_000)
        assert not await store.take_duty("sweep", "b", 1_000)
        assert await store.take_duty("retention", "b", 1_000)
        stage.pass_time(900)
        assert await store.take_duty("sweep", "a", 1_000)
        stage.pass_time(900)
        assert not await store.take_duty("sweep", "b", 1_000)
        stage.pass_time(200)
        assert await store.take_duty("sweep", "b", 1_000)
        assert not await store.take_duty("sweep", "a", 1_000)

    stage.run(scenario)


def test_a_chore_is_not_left_to_one_who_had_it_before_the_clock_was_set_back(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        assert await store.take_duty("sweep", "killed", 1_000)
        stage.pass_time(-86_400_000)
        assert await store.take_duty("sweep", "b", 1_000)
        assert not await store.take_duty("sweep", "killed", 1_000)

    stage.run(scenario)


def test_a_broker_from_before_the_clock_was_set_back_is_listed_once_it_shows_up(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        leases = [await stage.broker(store, id) for id in (1, 2)]
        stage.pass_time(-86_400_000)
        assert await store.live_brokers() == ()
        await store.renew_broker(leases[0])
        assert [broker.id for broker in await store.live_brokers()] == [1]

    stage.run(scenario)


def test_producer_ids_are_given_once(stage: Stage) -> None:
    async def scenario(store: MetadataStore) -> None:
        blocks = await asyncio.gather(*(store.take_producer_ids(10) for _ in range(8)))
        taken = [id for block in blocks for id in block]
        assert len(set(taken)) == 80
        assert min(taken) >= 0

    stage.run(scenario)
