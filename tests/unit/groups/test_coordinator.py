"""The coordinator over a store: what is told is saved, who was overtaken changes nothing, nobody waits for ever."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import pytest

from lakestream.broker.groups.asks import HeartbeatAsk, Joined, JoinRefused, LeaveAsk, Leaver, SyncAsk
from lakestream.broker.groups.errors import (
    CoordinatorLoading,
    CoordinatorNotAvailable,
    GroupNotEmpty,
    GroupNotFound,
    InvalidGroupId,
    InvalidSessionTimeout,
    OffsetMetadataTooLarge,
    SubscribedToTopic,
    UnknownMember,
)
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.offsets import CommitAsk, OffsetFetchAsk
from lakestream.broker.groups.saved.state import ProtocolOffer
from lakestream.model.errors import IllegalGeneration, NotCoordinator, StoreUnavailable
from lakestream.model.group import CommittedOffset, GroupKind, TopicPartition
from lakestream.world.chance import SeededChance
from tests.unit.groups.bench import GROUP, consumer_ask, join_ask, subscription, topic_id, topics
from tests.unit.groups.memory_store import MemoryGroupStore
from tests.unit.groups.site import Broker, FixedTopics, broker
from tests.unit.groups.virtual import run

ORDERS_0 = TopicPartition(topic_id("orders"), 0)
ONE = {ORDERS_0: CommittedOffset(7, -1, "note")}
TOPICS = FixedTopics(topics(orders=4))


def sync_ask(member: str, generation: int, **assignments: bytes) -> SyncAsk:
    return SyncAsk(
        group=GROUP,
        member_id=member,
        instance_id=None,
        generation=generation,
        protocol_type=None,
        protocol=None,
        assignments=assignments,
    )


def heartbeat_ask(member: str, generation: int) -> HeartbeatAsk:
    return HeartbeatAsk(group=GROUP, member_id=member, instance_id=None, generation=generation)


async def lone_member(on: Broker, member: str = "a") -> int:
    joined = await on.coordinator.join(join_ask(fresh=member, offers=(ProtocolOffer("range", subscription("orders")),)))
    assert isinstance(joined, Joined), joined
    await on.coordinator.sync(sync_ask(member, joined.generation, **{member: b"all"}))
    return joined.generation


def test_members_join_sync_and_heartbeat_without_touching_the_store() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore(delay_seconds=0.01)
        on = broker(store, TOPICS)
        joins = [asyncio.create_task(on.coordinator.join(join_ask(fresh=name))) for name in "abc"]
        joined = [await join for join in joins]
        assert {one.generation for one in joined if isinstance(one, Joined)} == {1}
        leader = joined[0].leader if isinstance(joined[0], Joined) else ""
        given = {name: name.encode() for name in "abc"}
        syncs = [on.coordinator.sync(sync_ask(name, 1, **given if name == leader else {})) for name in "abc"]
        assert [one.assignment for one in await asyncio.gather(*syncs)] == [b"a", b"b", b"c"]
        saves = store.saves
        for _ in range(20):
            await asyncio.sleep(3)
            await asyncio.gather(*(on.coordinator.heartbeat(heartbeat_ask(name, 1)) for name in "abc"))
        assert store.saves == saves
        await on.tasks.close()

    run(scenario())


def test_an_assignment_is_told_only_after_it_is_saved() -> None:
    async def scenario(seed: int) -> None:
        store = MemoryGroupStore(chance=SeededChance(seed))
        on = broker(store, TOPICS)
        joined = await on.coordinator.join(join_ask(fresh="a"))
        assert isinstance(joined, Joined)
        store.fault_rate = 1.0
        with pytest.raises(CoordinatorNotAvailable):
            await on.coordinator.sync(sync_ask("a", joined.generation, a=b"all"))
        store.fault_rate = 0.0
        saved = store.rows[GROUP].saved
        assert saved is not None
        if saved.generation == joined.generation:  # the write was done and only its answer was lost
            await on.coordinator.heartbeat(heartbeat_ask("a", joined.generation))
        else:
            with pytest.raises(UnknownMember):
                await on.coordinator.heartbeat(heartbeat_ask("a", joined.generation))
        await on.tasks.close()

    for seed in range(6):
        run(scenario(seed), seed)


def test_another_broker_takes_over_and_the_first_one_changes_nothing_any_more() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore(delay_seconds=0.01)
        first, second = broker(store, TOPICS, id=1), broker(store, TOPICS, id=2)
        generation = await lone_member(first)
        await second.coordinator.heartbeat(heartbeat_ask("a", generation))
        await first.coordinator.heartbeat(heartbeat_ask("a", generation))
        ask = CommitAsk(group=GROUP, member_id="a", generation=generation, offsets=ONE)
        await second.administration.commit(ask)
        stale = ask._replace(offsets={ORDERS_0: CommittedOffset(3)})
        with pytest.raises(NotCoordinator):
            await first.administration.commit(stale)
        assert await second.administration.fetch(OffsetFetchAsk(group=GROUP), [ORDERS_0]) == ONE
        assert not list(first.holdings.all()), "it has let go of the group"
        await first.tasks.close()
        await second.tasks.close()

    run(scenario())


def test_a_parked_join_is_sent_away_when_its_group_moves() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        ours = True
        on = broker(store, TOPICS, is_ours=lambda _: ours)
        parked = asyncio.create_task(on.coordinator.join(join_ask(fresh="a")))
        await asyncio.sleep(0.1)
        ours = False
        answer = await parked
        assert isinstance(answer, JoinRefused)
        assert isinstance(answer.error, NotCoordinator)
        with pytest.raises(NotCoordinator):
            await on.coordinator.heartbeat(heartbeat_ask("a", 1))
        await on.tasks.close()

    run(scenario())


def test_closing_answers_everyone_who_waits() -> None:
    async def scenario() -> None:
        on = broker(MemoryGroupStore(), TOPICS)
        parked = asyncio.create_task(on.coordinator.join(join_ask(fresh="a")))
        await asyncio.sleep(0.1)
        on.holdings.close()
        answer = await parked
        assert isinstance(answer, JoinRefused) and isinstance(answer.error, NotCoordinator)
        await on.tasks.close()

    run(scenario())


def test_silent_members_expire_and_their_group_is_saved_as_empty() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS)
        await lone_member(on)
        saved = store.rows[GROUP].saved
        assert saved is not None and not saved.empty
        assert saved.subscribed == {"orders"}
        await asyncio.sleep(10.2)
        saved = store.rows[GROUP].saved
        assert saved is not None and saved.empty
        await on.tasks.close()

    run(scenario())


def test_a_save_waits_for_commits_that_were_accepted_before_it() -> None:
    async def scenario(seed: int) -> None:
        store = MemoryGroupStore(chance=SeededChance(seed))
        on = broker(store, TOPICS)
        generation = await lone_member(on)
        store.delay_seconds = 1.0
        commit = asyncio.create_task(
            on.administration.commit(CommitAsk(group=GROUP, member_id="a", generation=generation, offsets=ONE))
        )
        await asyncio.sleep(0)
        leave = asyncio.create_task(on.coordinator.leave(LeaveAsk(group=GROUP, leavers=[Leaver("a", None)])))
        await commit
        assert not leave.done()
        await leave
        assert store.rows[GROUP].offsets == ONE
        await on.tasks.close()

    for seed in range(20):
        run(scenario(seed), seed)


class StoreOfLateCommits(MemoryGroupStore):
    """Says that it does not answer, and carries the commit out when told to."""

    late: list[Callable[[], Coroutine[None, None, None]]]

    async def commit_offsets(self, group: str, epoch: int, **about: Any) -> None:
        if not hasattr(self, "late"):
            self.late = [partial(super().commit_offsets, group, epoch, **about)]
            raise StoreUnavailable("no answer in time")
        await super().commit_offsets(group, epoch, **about)


def test_a_commit_that_was_not_answered_cannot_land_after_later_ones() -> None:
    async def scenario() -> None:
        store = StoreOfLateCommits()
        on = broker(store, TOPICS)
        await on.coordinator.consumer_heartbeat(consumer_ask("a", 0))
        ask = CommitAsk(group=GROUP, member_id="a", generation=1, offsets=ONE)
        with pytest.raises(CoordinatorNotAvailable):
            await on.administration.commit(ask)
        await on.administration.commit(ask._replace(offsets={ORDERS_0: CommittedOffset(9)}))
        with pytest.raises(NotCoordinator):
            await store.late[0]()
        assert store.rows[GROUP].offsets[ORDERS_0].offset == 9
        await on.tasks.close()

    run(scenario())


def test_the_store_refuses_a_commit_of_a_generation_that_has_passed() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS)
        generation = await lone_member(on)
        epoch = store.rows[GROUP].epoch
        with pytest.raises(IllegalGeneration):
            await store.commit_offsets(GROUP, epoch, generation=generation - 1, offsets=ONE, retention_ms=None)
        await on.tasks.close()

    run(scenario())


def test_offsets_of_an_unknown_group_are_absent_and_the_group_stays_unknown() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS)
        assert await on.administration.fetch(OffsetFetchAsk(group="nobody"), None) == {}
        with pytest.raises(GroupNotFound):
            await on.administration.describe_classic("nobody")
        assert not store.rows
        await on.tasks.close()

    run(scenario())


def test_any_broker_says_what_is_committed() -> None:
    """A librdkafka member that is sent to another coordinator for its offsets never asks again: it sat on its
    partitions and read nothing, until the next rebalance."""

    async def scenario() -> None:
        store = MemoryGroupStore()
        first, second = broker(store, TOPICS, id=1), broker(store, TOPICS, id=2, is_ours=lambda _: False)
        generation = await lone_member(first)
        await first.administration.commit(CommitAsk(group=GROUP, member_id="a", generation=generation, offsets=ONE))
        epoch = store.rows[GROUP].epoch
        assert (
            await second.administration.fetch(OffsetFetchAsk(group=GROUP, member_id="a", member_epoch=7), None) == ONE
        )
        assert await second.administration.fetch(OffsetFetchAsk(group="nobody"), None) == {}
        assert store.rows[GROUP].epoch == epoch, "nothing was claimed"
        await first.tasks.close()
        await second.tasks.close()

    run(scenario())


class StoreThatCannotBeRead(MemoryGroupStore):
    async def fetch_offsets(self, *_: Any) -> Any:
        raise StoreUnavailable("the network is gone")


class StoreThatCannotBeClaimedFrom(MemoryGroupStore):
    async def claim_group(self, *_: Any, **__: Any) -> Any:
        raise StoreUnavailable("the network is gone")


@pytest.mark.parametrize("kind", [StoreThatCannotBeRead, StoreThatCannotBeClaimedFrom])
def test_who_cannot_be_told_its_offsets_is_told_to_ask_again(kind: type[MemoryGroupStore]) -> None:
    async def scenario() -> None:
        store = kind()
        on = broker(store, TOPICS)
        if kind is StoreThatCannotBeRead:
            await lone_member(on)
        with pytest.raises(CoordinatorLoading):
            await on.administration.fetch(OffsetFetchAsk(group=GROUP), None)
        await on.tasks.close()

    run(scenario())


def test_a_simple_consumer_commits_and_reads_back() -> None:
    async def scenario() -> None:
        on = broker(MemoryGroupStore(), TOPICS)
        too_long = {TopicPartition(topic_id("orders"), 1): CommittedOffset(1, -1, "x" * 4_097)}
        refused = await on.administration.commit(CommitAsk(group="simple", offsets={**ONE, **too_long}))
        assert [type(error) for error in refused.values()] == [OffsetMetadataTooLarge]
        assert await on.administration.fetch(OffsetFetchAsk(group="simple"), None) == ONE
        (listed,) = await on.administration.list()
        assert (listed.group, listed.kind, listed.protocol_type, listed.phase) == (
            "simple",
            GroupKind.CLASSIC,
            "",
            "Empty",
        )
        await on.tasks.close()

    run(scenario())


def test_groups_are_described_and_deleted() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS)
        generation = await lone_member(on)
        described = await on.administration.describe_classic(GROUP)
        assert (described.phase, described.protocol) == ("Stable", "range")
        assert described.members[0].assignment == b"all"
        with pytest.raises(GroupNotFound):
            await on.administration.describe_consumer(GROUP)
        with pytest.raises(GroupNotEmpty):
            await on.administration.delete(GROUP)
        await on.administration.commit(CommitAsk(group=GROUP, member_id="a", generation=generation, offsets=ONE))
        refused = await on.administration.delete_offsets(GROUP, {ORDERS_0: "orders"})
        assert isinstance(refused[ORDERS_0], SubscribedToTopic)
        await on.coordinator.leave(LeaveAsk(group=GROUP, leavers=[Leaver("a", None)]))
        assert await on.administration.delete_offsets(GROUP, {ORDERS_0: "orders"}) == {}
        assert await on.administration.fetch(OffsetFetchAsk(group=GROUP), None) == {}
        await on.administration.delete(GROUP)
        with pytest.raises(GroupNotFound):
            await on.administration.delete(GROUP)
        await on.tasks.close()

    run(scenario())


def test_asks_are_checked_before_a_group_is_made_for_them() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS)
        for ask, error in (
            (join_ask(group=""), InvalidGroupId),
            (join_ask(session_timeout_ms=5_999), InvalidSessionTimeout),
            (join_ask(session_timeout_ms=1_800_001), InvalidSessionTimeout),
            (join_ask("ghost"), UnknownMember),
        ):
            answer = await on.coordinator.join(ask)
            assert isinstance(answer, JoinRefused)
            assert isinstance(answer.error, error)
            assert answer.member_id == ask.member_id
        assert not store.rows
        await on.tasks.close()

    run(scenario())


def test_groups_in_memory_are_bounded_and_idle_ones_make_room() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore()
        on = broker(store, TOPICS, limits=GroupLimits(groups_max=3))
        for number in range(10):
            await on.administration.commit(CommitAsk(group=f"simple-{number}", offsets=ONE))
            assert len(list(on.holdings.all())) <= 3
        joins = [asyncio.create_task(on.coordinator.join(join_ask(group=name, fresh=name))) for name in "xyz"]
        await asyncio.sleep(0.1)
        answer = await on.coordinator.join(join_ask(group="one too many"))
        assert isinstance(answer, JoinRefused) and isinstance(answer.error, CoordinatorNotAvailable)
        assert (await on.administration.list())[0].group == "simple-0"
        on.holdings.close()
        await asyncio.gather(*joins)
        await on.tasks.close()

    run(scenario())


def test_groups_that_nobody_uses_leave_the_memory() -> None:
    async def scenario() -> None:
        on = broker(MemoryGroupStore(), TOPICS)
        await on.administration.commit(CommitAsk(group="simple", offsets=ONE))
        await asyncio.sleep(70)
        assert not list(on.holdings.all())
        assert await on.administration.fetch(OffsetFetchAsk(group="simple"), None) == ONE
        await on.tasks.close()

    run(scenario())


def test_many_changes_share_a_save() -> None:
    async def scenario() -> None:
        store = MemoryGroupStore(delay_seconds=0.5)
        on = broker(store, TOPICS, limits=GroupLimits(members_max=200))
        beats = [on.coordinator.consumer_heartbeat(consumer_ask(f"m{number}", 0)) for number in range(100)]
        answers = await asyncio.gather(*beats)
        assert len({answer.member_id for answer in answers}) == 100
        assert store.saves < 10
        await on.tasks.close()

    run(scenario())
