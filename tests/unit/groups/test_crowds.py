"""Thousands at once: what a group costs grows with its members, not with their square, and has bounds."""

import asyncio
from dataclasses import dataclass
from typing import Any, cast

import pytest

from lakestream.broker.groups.asks import ConsumerHeartbeatAnswer
from lakestream.broker.groups.consumer import group as consumer_group
from lakestream.broker.groups.consumer.assignors import ASSIGNORS, Partitions, Readers, assign_uniform
from lakestream.broker.groups.errors import GroupFull, GroupTooLarge
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import Assignment
from tests.unit.groups.bench import Bench, consumer_ask, topics
from tests.unit.groups.memory_store import MemoryGroupStore
from tests.unit.groups.site import FixedTopics, broker
from tests.unit.groups.virtual import run

CROWD = 3_000
TOPICS = FixedTopics(topics(orders=64))


@dataclass
class CountedAssignor:
    runs: int = 0

    def __call__(self, readers: Readers, partitions: Partitions) -> dict[str, Assignment]:
        self.runs += 1
        return assign_uniform(readers, partitions)


@pytest.fixture
def assignor(monkeypatch: pytest.MonkeyPatch) -> CountedAssignor:
    counted = CountedAssignor()
    monkeypatch.setitem(cast(dict[str, Any], ASSIGNORS), "uniform", counted)
    return counted


def test_a_crowd_of_the_newer_protocol_is_assigned_and_saved_a_few_times(assignor: CountedAssignor) -> None:
    async def scenario() -> None:
        store = MemoryGroupStore(delay_seconds=0.05)
        on = broker(store, TOPICS, limits=GroupLimits(members_max=CROWD - 1_000))
        asks = [on.coordinator.consumer_heartbeat(consumer_ask(f"m{number}", 0)) for number in range(CROWD)]
        answers = await asyncio.gather(*asks, return_exceptions=True)
        assert sum(isinstance(one, ConsumerHeartbeatAnswer) for one in answers) == CROWD - 1_000
        assert sum(isinstance(one, GroupFull) for one in answers) == 1_000
        assert assignor.runs <= on.holdings.limits.assignment_pause_members_min + 1
        assert store.saves <= 3

        await asyncio.sleep(1.1)
        epochs = {one.member_id: one.member_epoch for one in answers if isinstance(one, ConsumerHeartbeatAnswer)}
        again = [
            on.coordinator.consumer_heartbeat(consumer_ask(member, epoch, owned=frozenset()))
            for member, epoch in epochs.items()
        ]
        await asyncio.gather(*again)
        described = await on.administration.describe_consumer("g")
        assert sum(len(one.target) for one in described.members) == 64, "after the pause everything is assigned"
        await on.tasks.close()

    run(scenario())


def test_a_crowd_of_static_members_that_comes_back_is_elected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(limits=GroupLimits(initial_rebalance_delay_ms=0))
    tickets = [bench.join(instance_id=f"i{number}", fresh=f"a{number}") for number in range(200)]
    bench.pass_ms(10)
    joined = bench.joined(tickets[0])
    bench.sync(joined.leader, joined.generation, {f"a{number}": b"x" for number in range(200)})
    monkeypatch.setattr(bench.machine.group, "elected_protocol", _must_not_be_called)
    monkeypatch.setattr(bench.machine.group, "settle", _must_not_be_called)
    for number in range(200):
        bench.join(instance_id=f"i{number}", fresh=f"b{number}")
    bench.take_over()
    assert set(bench.machine.group.members) == {f"b{number}" for number in range(200)}


def test_the_subscriptions_of_a_group_have_a_bound() -> None:
    bench = Bench(limits=GroupLimits(group_bytes_max=10_000), topics=topics(orders=1))
    wordy = frozenset(f"topic-{number:034}" for number in range(100))
    bench.consumer("a", 0, topics=wordy)
    bench.consumer("b", 0, topics=wordy)
    with pytest.raises(GroupTooLarge):
        bench.consumer("c", 0, topics=wordy)
    bench.consumer("a", -1)
    bench.consumer("c", 0, topics=wordy)


def test_the_different_expressions_of_a_group_have_a_bound() -> None:
    bench = Bench(limits=GroupLimits(expressions_max=2), topics=topics(orders=1))
    for member, regex in (("a", "x.*"), ("b", "y.*"), ("c", "x.*")):
        bench.consumer(member, 0, topics=None, regex=regex)
    with pytest.raises(GroupTooLarge):
        bench.consumer("d", 0, topics=None, regex="z.*")
    bench.consumer("b", -1)
    bench.consumer("d", 0, topics=None, regex="z.*")


def test_members_of_a_crowd_leave_no_trace_in_what_is_counted() -> None:
    bench = Bench(topics=topics(orders=4, bills=4))
    for number in range(20):
        bench.consumer(f"m{number}", 0, topics=frozenset({"orders"}), regex="b.*")
    for number in range(20):
        bench.consumer(f"m{number}", -1)
    group = bench.machine.group
    assert isinstance(group, consumer_group.ConsumerGroup)
    assert (group.subscribed(), group.subscribed_bytes) == (frozenset(), 0)


def _must_not_be_called(*_: object) -> None:
    raise AssertionError("this looks at every member of the group")
