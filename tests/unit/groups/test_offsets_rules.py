"""Who may commit and read offsets: Kafka's rules and errors."""

import pytest

from lakestream.broker.groups.errors import (
    FencedInstance,
    GroupNotEmpty,
    GroupNotFound,
    RebalanceInProgress,
    StaleMemberEpoch,
    UnknownMember,
    UnsupportedCommit,
)
from lakestream.broker.groups.offsets import (
    CommitAsk,
    OffsetFetchAsk,
    check_commit,
    check_delete_group,
    check_delete_offsets,
    check_fetch,
)
from lakestream.broker.groups.saved.state import ProtocolOffer
from lakestream.broker.groups.turn import Turn
from lakestream.model.errors import IllegalGeneration
from lakestream.model.group import NO_GENERATION
from tests.unit.groups.bench import GROUP, Bench, stable_pair, subscription, topics

ORDERS = frozenset({"orders"})


def commit(bench: Bench, member: str = "", generation: int = -1, **changes: object) -> int:
    ask = CommitAsk(group=GROUP, member_id=member, generation=generation, offsets={}, **changes)  # type: ignore[arg-type]
    turn = Turn(now_ms=bench.now_ms, limits=bench.limits, topics=bench.topics)
    return check_commit(bench.machine.group, ask, turn.now_ms)


def test_anyone_commits_to_a_group_that_does_not_exist() -> None:
    turn = Turn(now_ms=0, limits=Bench().limits, topics=topics())
    assert check_commit(None, CommitAsk(group=GROUP, offsets={}), turn.now_ms) == NO_GENERATION
    with pytest.raises(GroupNotFound):
        check_commit(None, CommitAsk(group=GROUP, offsets={}, member_id="a", generation=3), turn.now_ms)
    old = CommitAsk(group=GROUP, offsets={}, member_id="a", generation=3, knows_member_epochs=False)
    with pytest.raises(IllegalGeneration):
        check_commit(None, old, turn.now_ms)


def test_a_simple_consumer_commits_to_an_empty_group_only() -> None:
    bench = Bench()
    assert commit(bench) == NO_GENERATION
    stable_pair(bench)
    with pytest.raises(UnknownMember):
        commit(bench)


def test_a_transaction_commits_to_a_group_with_members_and_names_none_of_them() -> None:
    """Not every client tells its producer who reads: kafkajs and aiokafka name the group alone."""
    bench = Bench()
    generation = stable_pair(bench)
    assert commit(bench, in_transaction=True) == NO_GENERATION
    assert commit(bench, "a", generation, in_transaction=True) == generation
    with pytest.raises(UnknownMember):
        commit(bench, "x", in_transaction=True)
    with pytest.raises(IllegalGeneration):
        commit(bench, "a", generation - 1, in_transaction=True)


def test_members_commit_in_their_generation() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    assert commit(bench, "a", generation) == generation
    with pytest.raises(UnknownMember):
        commit(bench, "x", generation)
    with pytest.raises(IllegalGeneration):
        commit(bench, "a", generation - 1)
    with pytest.raises(IllegalGeneration):
        commit(bench, "a")


def test_commits_are_accepted_while_members_join_and_refused_while_they_sync() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.join(fresh="c")
    assert commit(bench, "a", generation) == generation
    bench.join("a"), bench.join("b")
    with pytest.raises(RebalanceInProgress):
        commit(bench, "a", generation + 1)
    with pytest.raises(IllegalGeneration):
        commit(bench, "a", generation)


def test_a_commit_keeps_the_session_alive() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    for _ in range(5):
        bench.pass_ms(9_000)
        commit(bench, "a", generation)
        commit(bench, "b", generation)
    assert bench.phase == "Stable"


def test_a_fenced_instance_cannot_commit() -> None:
    bench = Bench()
    bench.join(fresh="a", instance_id="ia")
    bench.pass_ms(3_000)
    bench.sync("a", 1, instance_id="ia")
    bench.join(fresh="a2", instance_id="ia")
    with pytest.raises(FencedInstance):
        commit(bench, "a", 1, instance_id="ia")
    assert commit(bench, "a2", 1, instance_id="ia") == 1


def test_consumer_members_commit_in_their_epoch() -> None:
    bench = Bench(topics=topics(orders=2))
    epoch = bench.consumer("a", 0, topics=ORDERS).member_epoch
    commit(bench, "a", epoch)
    with pytest.raises(StaleMemberEpoch):
        commit(bench, "a", epoch + 1)
    with pytest.raises(UnknownMember):
        commit(bench, "b", epoch)
    with pytest.raises(UnknownMember):
        commit(bench)
    with pytest.raises(UnsupportedCommit):
        commit(bench, "a", epoch, knows_member_epochs=False)
    bench.consumer("a", -1)
    assert commit(bench) == NO_GENERATION


def test_who_says_that_it_is_a_member_must_be_one_to_read() -> None:
    bench = Bench(topics=topics(orders=2))
    epoch = bench.consumer("a", 0, topics=ORDERS).member_epoch
    group = bench.machine.group
    check_fetch(None, OffsetFetchAsk(group=GROUP))
    check_fetch(group, OffsetFetchAsk(group=GROUP))
    check_fetch(group, OffsetFetchAsk(group=GROUP, member_id="a", member_epoch=epoch))
    with pytest.raises(StaleMemberEpoch):
        check_fetch(group, OffsetFetchAsk(group=GROUP, member_id="a", member_epoch=epoch - 1))
    with pytest.raises(UnknownMember):
        check_fetch(group, OffsetFetchAsk(group=GROUP, member_id="b", member_epoch=epoch))


def test_only_empty_groups_are_deleted() -> None:
    bench = Bench()
    with pytest.raises(GroupNotFound):
        check_delete_group(None, GROUP)
    check_delete_group(bench.machine.group, GROUP)
    stable_pair(bench)
    with pytest.raises(GroupNotEmpty):
        check_delete_group(bench.machine.group, GROUP)
    bench.leave(("a", None), ("b", None))
    check_delete_group(bench.machine.group, GROUP)


def test_offsets_of_topics_that_members_read_are_not_deleted() -> None:
    bench = Bench()
    offers = (ProtocolOffer("range", subscription("orders", "bills")),)
    stable_pair(bench, offers=offers)
    assert check_delete_offsets(bench.machine.group, GROUP) == {"orders", "bills"}
    with pytest.raises(GroupNotFound):
        check_delete_offsets(None, GROUP)
    connect = Bench()
    stable_pair(connect, protocol_type="connect")
    with pytest.raises(GroupNotEmpty):
        check_delete_offsets(connect.machine.group, GROUP)
