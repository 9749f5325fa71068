"""ConsumerGroupHeartbeat (KIP-848) answered as Kafka answers it."""

import pytest

from lakestream.broker.groups.errors import (
    FencedInstance,
    FencedMemberEpoch,
    GroupFull,
    InvalidRegularExpression,
    UnknownMember,
    UnreleasedInstance,
    UnsupportedAssignor,
)
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.errors import InvalidRequest
from tests.unit.groups.bench import Bench, partitions, topics

ORDERS = frozenset({"orders"})


def bench_with(**counts: int) -> Bench:
    return Bench(topics=topics(**counts))


def join(bench: Bench, member: str, **changes: object) -> int:
    return bench.consumer(member, 0, **{"topics": ORDERS, **changes}).member_epoch


def assigned(bench: Bench, member: str) -> Assignment:
    return bench.machine.group.members[member].assigned  # type: ignore[union-attr]


def test_the_first_member_gets_everything() -> None:
    bench = bench_with(orders=3)
    answer = bench.consumer("a", 0, topics=ORDERS)
    assert answer.member_epoch == 1
    assert answer.assignment == partitions("orders", 0, 1, 2)
    assert answer.heartbeat_interval_ms == 5_000
    assert bench.phase == "Stable"


def test_a_partition_moves_only_after_its_owner_has_let_it_go() -> None:
    bench = bench_with(orders=4)
    join(bench, "a")
    answer = bench.consumer("b", 0, topics=ORDERS)
    assert (answer.member_epoch, answer.assignment) == (2, frozenset())
    told = bench.consumer("a", 1)
    assert told.member_epoch == 1, "it stays in its epoch until it has revoked"
    assert told.assignment is not None and len(told.assignment) == 2
    kept = told.assignment
    assert bench.consumer("b", 2).assignment is None, "nothing was let go yet"
    assert bench.consumer("a", 1, owned=partitions("orders", 0, 1, 2, 3)).assignment is None
    acknowledged = bench.consumer("a", 1, owned=kept)
    assert (acknowledged.member_epoch, acknowledged.assignment) == (2, None)
    given = bench.consumer("b", 2).assignment
    assert given == partitions("orders", 0, 1, 2, 3) - kept
    assert bench.phase == "Stable"


def test_a_quiet_heartbeat_changes_and_saves_nothing() -> None:
    bench = bench_with(orders=4)
    join(bench, "a")
    saves = bench.saves
    for _ in range(10):
        assert bench.consumer("a", 1).assignment is None
    assert bench.saves == saves


def test_a_full_request_is_answered_in_full() -> None:
    bench = bench_with(orders=1)
    join(bench, "a")
    full = bench.consumer("a", 1, topics=ORDERS, rebalance_timeout_ms=60_000, owned=partitions("orders", 0))
    assert full.assignment == partitions("orders", 0)


def test_a_member_that_does_not_let_go_in_time_is_removed() -> None:
    bench = bench_with(orders=2)
    join(bench, "a", rebalance_timeout_ms=7_000)
    join(bench, "b")
    bench.consumer("a", 1)
    for _ in range(3):
        bench.pass_ms(2_000)
        bench.consumer("a", 1)
    bench.pass_ms(1_001)
    with pytest.raises(UnknownMember):
        bench.consumer("a", 1)
    assert bench.consumer("b", 2).assignment == partitions("orders", 0, 1)


def test_a_silent_member_is_removed_and_its_partitions_move() -> None:
    bench = bench_with(orders=2)
    join(bench, "a")
    join(bench, "b")
    bench.pass_ms(30_000)
    bench.consumer("b", 2)
    bench.pass_ms(15_001)
    assert bench.consumer("b", 2).assignment == partitions("orders", 0, 1)


def test_leaving_frees_partitions_at_once() -> None:
    bench = bench_with(orders=2)
    join(bench, "a")
    join(bench, "b")
    assert bench.consumer("a", -1).member_epoch == -1
    assert bench.consumer("b", 2).assignment == partitions("orders", 0, 1)


def test_a_wrong_epoch_is_fenced() -> None:
    bench = bench_with(orders=2)
    join(bench, "a")
    with pytest.raises(FencedMemberEpoch):
        bench.consumer("a", 2)
    with pytest.raises(UnknownMember):
        bench.consumer("b", 1)


def test_the_epoch_before_is_accepted_when_the_last_answer_was_lost() -> None:
    bench = bench_with(orders=2)
    join(bench, "a")
    bench.consumer("a", 1, topics=frozenset({"orders", "other"}))
    assert bench.consumer("a", 1, owned=partitions("orders", 0)).member_epoch == 2
    with pytest.raises(FencedMemberEpoch):
        bench.consumer("a", 1)
    with pytest.raises(FencedMemberEpoch):
        bench.consumer("a", 1, owned=partitions("orders", 0, 1, 2))


def test_a_fenced_member_joins_again_with_its_id() -> None:
    bench = bench_with(orders=2)
    join(bench, "a")
    assert bench.consumer("a", 0, topics=ORDERS).assignment == partitions("orders", 0, 1)


def test_topics_that_appear_grow_and_go_are_followed() -> None:
    bench = bench_with(orders=1)
    epoch = join(bench, "a", topics=frozenset({"orders", "later"}))
    bench.topics = topics(2, orders=1, later=1)
    answer = bench.consumer("a", epoch)
    assert answer.assignment == partitions("orders", 0) | partitions("later", 0)
    bench.topics = topics(3, orders=2, later=1)
    answer = bench.consumer("a", answer.member_epoch)
    assert answer.assignment == partitions("orders", 0, 1) | partitions("later", 0)
    bench.topics = topics(4, orders=2)
    answer = bench.consumer("a", answer.member_epoch)
    assert answer.assignment == partitions("orders", 0, 1)
    bench.topics = topics(5, orders=2, unrelated=7)
    assert (
        bench.consumer("a", answer.member_epoch, owned=partitions("orders", 0, 1)).member_epoch
        == answer.member_epoch + 1
    )
    epoch = bench.machine.group.epoch  # type: ignore[union-attr]
    bench.topics = topics(6, orders=2, unrelated=8)
    bench.consumer("a", epoch)
    assert bench.machine.group.epoch == epoch, "other topics do not concern the group"  # type: ignore[union-attr]


def test_a_changed_subscription_is_revoked_first() -> None:
    bench = bench_with(orders=2, bills=2)
    epoch = join(bench, "a")
    answer = bench.consumer("a", epoch, topics=frozenset({"bills"}))
    assert (answer.member_epoch, answer.assignment) == (epoch, frozenset())
    answer = bench.consumer("a", epoch, owned=frozenset())
    assert (answer.member_epoch, answer.assignment) == (epoch + 1, partitions("bills", 0, 1))


def test_regular_expressions_follow_the_topics() -> None:
    bench = bench_with(orders=1, orders_eu=1, bills=1)
    answer = bench.consumer("a", 0, regex="orders.*")
    assert answer.assignment == partitions("orders", 0) | partitions("orders_eu", 0)
    bench.topics = topics(2, orders=1, orders_eu=1, orders_us=1, bills=1, reorders=1)
    answer = bench.consumer("a", answer.member_epoch)
    assert answer.assignment == partitions("orders", 0) | partitions("orders_eu", 0) | partitions("orders_us", 0)


@pytest.mark.parametrize("regex", ["(", "a(?=b)", r"(a)\1", "a{1001}", "x" * 2_001, r"a)|(b", r"\Qa"])
def test_a_bad_expression_is_refused_and_changes_nothing(regex: str) -> None:
    bench = bench_with(orders=1)
    epoch = join(bench, "a")
    with pytest.raises(InvalidRegularExpression):
        bench.consumer("b", 0, regex=regex)
    with pytest.raises(InvalidRegularExpression):
        bench.consumer("a", epoch, regex=regex)
    assert bench.consumer("a", epoch).member_epoch == epoch
    assert list(bench.machine.group.members) == ["a"]


def test_a_catastrophic_expression_costs_nothing() -> None:
    bench = Bench(topics=topics(**{"a" * 200 + "b": 1}))
    assert bench.consumer("a", 0, regex="(a+)+").assignment == frozenset()
    assert bench.consumer("b", 0, regex="(a|a)*(a|a)*c").assignment == frozenset()


def test_members_choose_the_assignor() -> None:
    bench = bench_with(orders=2, bills=2)
    both = frozenset({"orders", "bills"})
    join(bench, "a", topics=both, assignor="range")
    join(bench, "b", topics=both, assignor="range")
    bench.consumer("a", 1)
    bench.consumer("a", 1, owned=frozenset())
    bench.consumer("b", 2)
    assert assigned(bench, "b") == partitions("orders", 1) | partitions("bills", 1)
    with pytest.raises(UnsupportedAssignor):
        bench.consumer("c", 0, topics=both, assignor="sticky")


def test_a_full_group_refuses_newcomers() -> None:
    bench = Bench(limits=GroupLimits(members_max=1), topics=topics(orders=2))
    join(bench, "a")
    with pytest.raises(GroupFull):
        join(bench, "b")
    bench.consumer("a", 1)


# --- static members ----------------------------------------------------------------------------


def test_a_static_member_returns_to_its_partitions() -> None:
    bench = bench_with(orders=4)
    join(bench, "a", instance_id="ia")
    join(bench, "b")
    bench.consumer("a", 1, instance_id="ia")
    bench.consumer("a", 1, instance_id="ia", owned=frozenset())
    bench.consumer("b", 2)
    had = assigned(bench, "a")
    assert bench.consumer("a", -2, instance_id="ia").member_epoch == -2
    assert bench.consumer("b", 2).assignment is None, "its partitions are kept for it"
    answer = bench.consumer("a2", 0, instance_id="ia", topics=ORDERS)
    assert (answer.member_epoch, answer.assignment) == (2, had)
    with pytest.raises(FencedInstance):
        bench.consumer("a", 2, instance_id="ia")
    with pytest.raises(FencedInstance):
        bench.consumer("a", -1, instance_id="ia")


def test_an_instance_that_has_not_left_is_not_given_away() -> None:
    bench = bench_with(orders=1)
    join(bench, "a", instance_id="ia")
    with pytest.raises(UnreleasedInstance):
        join(bench, "a2", instance_id="ia")


def test_a_static_member_that_does_not_return_loses_its_partitions() -> None:
    bench = bench_with(orders=2)
    join(bench, "a", instance_id="ia")
    join(bench, "b")
    bench.consumer("a", -2, instance_id="ia")
    bench.pass_ms(40_000)
    bench.consumer("b", 2)
    bench.pass_ms(5_001)
    assert bench.consumer("b", 2).assignment == partitions("orders", 0, 1)


# --- requests that make no sense ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("epoch", "changes", "message"),
    [
        (0, {"member_id": " "}, "MemberId"),
        (0, {"group": ""}, "GroupId"),
        (0, {"instance_id": ""}, "InstanceId"),
        (0, {"rack": ""}, "RackId"),
        (0, {"rebalance_timeout_ms": None}, "RebalanceTimeoutMs"),
        (0, {"owned": None}, "TopicPartitions"),
        (0, {"owned": partitions("orders", 1)}, "TopicPartitions"),
        (0, {"topics": None}, "SubscribedTopicNames"),
        (-2, {}, "InstanceId can't be null"),
        (-3, {}, "MemberEpoch"),
        (0, {"topics": frozenset(map(str, range(20_001)))}, "topics"),
    ],
)
def test_requests_that_make_no_sense_are_refused(epoch: int, changes: dict[str, object], message: str) -> None:
    bench = bench_with(orders=1)
    with pytest.raises(InvalidRequest, match=message):
        bench.consumer("a", epoch, **{"topics": ORDERS, **changes})


def test_a_former_member_of_a_group_that_is_classic_now_joins_again() -> None:
    bench = bench_with(orders=1)
    with pytest.raises(UnknownMember):
        bench.consumer("a", 1)
    assert join(bench, "a") == 1


# --- another coordinator -----------------------------------------------------------------------


def test_a_half_finished_move_goes_on_under_another_coordinator() -> None:
    bench = bench_with(orders=4)
    join(bench, "a")
    join(bench, "b")
    kept = bench.consumer("a", 1).assignment
    assert kept is not None
    bench.take_over()
    assert bench.consumer("b", 2).assignment is None
    bench.consumer("a", 1, owned=kept)
    bench.take_over()
    assert bench.consumer("b", 2).assignment == partitions("orders", 0, 1, 2, 3) - kept


def test_a_member_that_must_let_go_is_still_watched_by_another_coordinator() -> None:
    bench = bench_with(orders=2)
    join(bench, "a", rebalance_timeout_ms=7_000)
    join(bench, "b")
    bench.consumer("a", 1)
    bench.take_over()
    bench.pass_ms(7_001)
    with pytest.raises(UnknownMember):
        bench.consumer("a", 1)
