"""Heartbeats, leaving, sessions that end, and coordinators that change, in classic groups."""

import pytest

from lakestream.broker.groups.errors import FencedInstance, RebalanceInProgress, UnknownMember
from lakestream.model.errors import IllegalGeneration
from tests.unit.groups.bench import Bench, stable_pair


def test_heartbeats_are_checked_in_kafkas_order() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.heartbeat("a", generation)
    with pytest.raises(UnknownMember):
        bench.heartbeat("x", generation)
    with pytest.raises(UnknownMember):
        bench.heartbeat("a", generation, "no such instance")
    with pytest.raises(IllegalGeneration):
        bench.heartbeat("a", generation - 1)


def test_heartbeats_save_nothing() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    saves = bench.saves
    for _ in range(20):
        bench.pass_ms(3_000)
        bench.heartbeat("a", generation)
        bench.heartbeat("b", generation)
    assert bench.saves == saves
    assert bench.phase == "Stable"


def test_a_silent_member_is_removed_after_its_session_timeout() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.pass_ms(5_000)
    bench.heartbeat("a", generation)
    bench.pass_ms(4_999)
    assert bench.phase == "Stable"
    bench.pass_ms(2)
    assert bench.phase == "PreparingRebalance"
    assert bench.joined(bench.join("a")).generation == generation + 1


def test_members_that_wait_do_not_expire() -> None:
    bench = Bench()
    stable_pair(bench)
    waiting = bench.join("b", offers=bench.machine.group.members["a"].offers[:1])  # type: ignore[union-attr]
    bench.pass_ms(59_000)  # "a" goes silent; "b" is parked far beyond its session timeout
    assert bench.joined(waiting).leader == "b"


def test_a_group_that_everyone_leaves_is_empty_in_a_new_generation() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    left = bench.leave(("a", None), ("b", None), ("x", None))
    assert [type(one.error) for one in left] == [type(None), type(None), UnknownMember]
    assert bench.phase == "Empty"
    assert bench.machine.group.generation == generation + 1  # type: ignore[union-attr]


def test_leaving_makes_the_others_join_again() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.leave(("b", None))
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat("a", generation)


def test_an_administrator_removes_a_static_member_by_its_instance() -> None:
    bench = Bench()
    bench.join(fresh="a", instance_id="ia")
    bench.pass_ms(3_000)
    bench.sync("a", 1, instance_id="ia")
    assert [type(one.error) for one in bench.leave(("", "other"), ("z", "ia"), ("", "ia"))] == [
        UnknownMember,
        FencedInstance,
        type(None),
    ]
    assert bench.phase == "Empty"


def test_a_member_that_only_has_an_id_can_leave() -> None:
    bench = Bench()
    bench.join(fresh="a", needs_known_member_id=True)
    assert bench.leave(("a", None))[0].error is None
    assert isinstance(bench.refused(bench.join("a")).error, UnknownMember)


def test_a_parked_join_of_a_member_that_leaves_is_answered() -> None:
    bench = Bench()
    parked = bench.join(fresh="a")
    bench.leave(("a", None))
    assert isinstance(bench.refused(parked).error, UnknownMember)


# --- another coordinator -----------------------------------------------------------------------


def test_a_stable_group_goes_on_without_a_rebalance_under_another_coordinator() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.take_over()
    assert bench.phase == "Stable"
    bench.heartbeat("a", generation)
    assert bench.synced(bench.sync("b", generation)) == b"for b"
    assert bench.joined(bench.join("b")).leader == "a"


def test_sessions_begin_anew_under_another_coordinator() -> None:
    bench = Bench()
    stable_pair(bench)
    bench.pass_ms(9_000)
    bench.take_over()
    bench.pass_ms(9_999)
    assert bench.phase == "Stable"
    bench.pass_ms(1)
    assert bench.phase == "Empty"


def test_a_generation_that_was_never_settled_is_not_continued() -> None:
    bench = Bench()
    bench.join(fresh="a")
    bench.pass_ms(3_000)
    assert bench.phase == "CompletingRebalance"
    bench.take_over()
    assert bench.phase == "Empty"
    assert bench.sync_error(bench.sync("a", 1)) is UnknownMember


def test_an_interrupted_rebalance_falls_back_to_the_settled_generation() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    bench.join(fresh="c")
    bench.join("a"), bench.join("b")
    assert bench.phase == "CompletingRebalance"
    bench.take_over()
    assert bench.phase == "Stable"
    with pytest.raises(IllegalGeneration):
        bench.heartbeat("a", generation + 1)


def test_a_static_member_keeps_its_place_across_coordinators() -> None:
    bench = Bench()
    bench.join(fresh="a", instance_id="ia")
    bench.pass_ms(3_000)
    bench.sync("a", 1, {"a": b"1"}, instance_id="ia")
    bench.join(fresh="a2", instance_id="ia")
    bench.take_over()
    bench.heartbeat("a2", 1, "ia")
    with pytest.raises(FencedInstance):
        bench.heartbeat("a", 1, "ia")
