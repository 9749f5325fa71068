"""JoinGroup and SyncGroup answered as Kafka answers them."""

import pytest

from lakestream.broker.groups.errors import (
    FencedInstance,
    GroupFull,
    GroupTooLarge,
    InconsistentProtocol,
    MemberIdRequired,
    RebalanceInProgress,
    UnknownMember,
)
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.saved.state import ProtocolOffer
from lakestream.model.errors import IllegalGeneration, InvalidRequest
from tests.unit.groups.bench import OFFERS, Bench, stable_pair


def test_a_dynamic_member_joins_in_two_steps_from_version_4() -> None:
    bench = Bench()
    refused = bench.refused(bench.join(fresh="a", needs_known_member_id=True))
    assert isinstance(refused.error, MemberIdRequired)
    assert refused.member_id == "a"
    assert bench.phase == "Empty"
    ticket = bench.join("a", needs_known_member_id=True)
    bench.pass_ms(3_000)
    assert bench.joined(ticket).member_id == "a"


def test_an_id_that_is_never_used_is_forgotten_after_the_session_timeout() -> None:
    bench = Bench()
    bench.join(fresh="a", needs_known_member_id=True)
    bench.pass_ms(10_001)
    assert isinstance(bench.refused(bench.join("a")).error, UnknownMember)


def test_members_that_come_during_the_initial_delay_share_a_generation() -> None:
    bench = Bench()
    tickets = [bench.join(fresh="a")]
    bench.pass_ms(2_900)
    tickets.append(bench.join(fresh="b"))
    bench.pass_ms(2_900)
    assert not bench.answers, "a newcomer prolongs the delay"
    bench.pass_ms(200)
    first, second = map(bench.joined, tickets)
    assert first.generation == second.generation == 1
    assert first.leader == second.leader == "a"
    assert [member.member_id for member in first.members] == ["a", "b"]
    assert second.members == ()
    assert first.protocol == "range"


def test_the_initial_delay_ends_at_the_rebalance_timeout_however_many_come() -> None:
    bench = Bench()
    first = bench.join(fresh="m0", rebalance_timeout_ms=7_000)
    for number in range(1, 20):
        bench.pass_ms(500)
        bench.join(fresh=f"m{number}", rebalance_timeout_ms=7_000)
    assert bench.joined(first).generation == 1


def test_the_protocol_with_most_votes_among_those_all_know_wins() -> None:
    bench = Bench()
    a, b, c = ProtocolOffer("a", b""), ProtocolOffer("b", b""), ProtocolOffer("c", b"")
    tickets = [
        bench.join(fresh="1", offers=(c, a, b)),
        bench.join(fresh="2", offers=(b, a)),
        bench.join(fresh="3", offers=(a, b)),
        bench.join(fresh="4", offers=(b, a)),
        bench.join(fresh="5", offers=(b, a)),
    ]
    bench.pass_ms(10_000)
    assert {bench.joined(ticket).protocol for ticket in tickets} == {"b"}


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol_type": "connect"},
        {"offers": (ProtocolOffer("sticky", b""),)},
        {"offers": ()},
    ],
)
def test_a_member_that_shares_no_protocol_is_refused(changes: dict[str, object]) -> None:
    bench = Bench()
    stable_pair(bench)
    assert isinstance(bench.refused(bench.join(fresh="c", **changes)).error, InconsistentProtocol)
    assert bench.phase == "Stable"


@pytest.mark.parametrize("changes", [{"protocol_type": ""}, {"offers": ()}])
def test_an_empty_group_needs_a_protocol(changes: dict[str, object]) -> None:
    bench = Bench()
    assert isinstance(bench.refused(bench.join(**changes)).error, InconsistentProtocol)


def test_followers_wait_for_the_leaders_assignment() -> None:
    bench = Bench()
    first, second = bench.join(fresh="a"), bench.join(fresh="b")
    bench.pass_ms(10_000)
    generation = bench.joined(first).generation
    assert bench.joined(second).generation == generation
    waiting = bench.sync("b", generation)
    assert waiting not in bench.answers
    assert bench.phase == "CompletingRebalance"
    leader = bench.sync("a", generation, {"a": b"1", "b": b"2"})
    assert (bench.synced(leader), bench.synced(waiting)) == (b"1", b"2")
    assert bench.phase == "Stable"


def test_a_member_that_the_leader_forgot_gets_nothing() -> None:
    bench = Bench()
    bench.join(fresh="a"), bench.join(fresh="b")
    bench.pass_ms(10_000)
    waiting = bench.sync("b", 1)
    bench.sync("a", 1, {"a": b"1"})
    assert bench.synced(waiting) == b""


def test_a_sync_in_a_stable_group_is_answered_at_once() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    assert bench.synced(bench.sync("b", generation)) == b"for b"


def test_syncs_are_checked_in_kafkas_order() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    assert bench.sync_error(bench.sync("x", generation)) is UnknownMember
    assert bench.sync_error(bench.sync("a", generation, instance_id="i")) is UnknownMember
    assert bench.sync_error(bench.sync("a", generation + 1)) is IllegalGeneration
    assert bench.sync_error(bench.sync("a", generation, protocol_type="connect")) is InconsistentProtocol
    assert bench.sync_error(bench.sync("a", generation, protocol="sticky")) is InconsistentProtocol
    bench.join(fresh="c")
    assert bench.sync_error(bench.sync("a", generation)) is RebalanceInProgress


def test_a_newcomer_makes_everyone_join_again() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    newcomer = bench.join(fresh="c")
    assert bench.phase == "PreparingRebalance"
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat("a", generation)
    a = bench.join("a")
    assert newcomer not in bench.answers
    b = bench.join("b")
    assert {bench.joined(ticket).generation for ticket in (newcomer, a, b)} == {generation + 1}
    assert {bench.joined(ticket).leader for ticket in (newcomer, a, b)} == {"a"}


def test_members_that_do_not_join_again_are_left_behind_after_the_rebalance_timeout() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    newcomer = bench.join(fresh="c")
    for _ in range(12):
        bench.pass_ms(4_999)
        for member in ("a", "b"):
            with pytest.raises(RebalanceInProgress):
                bench.heartbeat(member, generation)
    bench.pass_ms(100)
    assert bench.joined(newcomer).leader == "c"
    assert [member.member_id for member in bench.joined(newcomer).members] == ["c"]


def test_a_rebalance_during_sync_sends_waiting_members_back() -> None:
    bench = Bench()
    bench.join(fresh="a"), bench.join(fresh="b")
    bench.pass_ms(10_000)
    waiting = bench.sync("b", 1)
    bench.join(fresh="c")
    assert bench.sync_error(waiting) is RebalanceInProgress
    assert bench.phase == "PreparingRebalance"


def test_a_follower_that_repeats_its_join_is_told_the_current_generation() -> None:
    bench = Bench()
    generation = stable_pair(bench)
    assert bench.joined(bench.join("b")).generation == generation
    assert bench.phase == "Stable"


def test_a_leader_that_joins_again_begins_a_rebalance() -> None:
    bench = Bench()
    stable_pair(bench)
    bench.join("a")
    assert bench.phase == "PreparingRebalance"


def test_a_member_with_new_metadata_begins_a_rebalance() -> None:
    bench = Bench()
    stable_pair(bench)
    bench.join("b", offers=(ProtocolOffer("range", b"changed"),))
    assert bench.phase == "PreparingRebalance"


def test_a_repeated_join_while_the_group_completes_gets_the_same_answer() -> None:
    bench = Bench()
    bench.join(fresh="a"), bench.join(fresh="b")
    bench.pass_ms(10_000)
    again = bench.joined(bench.join("a"))
    assert again.generation == 1
    assert len(again.members) == 2
    assert bench.phase == "CompletingRebalance"


def test_an_unknown_member_id_is_refused() -> None:
    bench = Bench()
    stable_pair(bench)
    refused = bench.refused(bench.join("stranger"))
    assert isinstance(refused.error, UnknownMember)
    assert refused.member_id == "stranger"


def test_members_that_never_sync_are_removed_and_the_others_go_on() -> None:
    bench = Bench()
    bench.join(fresh="a", session_timeout_ms=1_000_000), bench.join(fresh="b", session_timeout_ms=1_000_000)
    bench.pass_ms(10_000)
    bench.sync("a", 1, {"a": b"1", "b": b"2"})
    bench.pass_ms(60_000)
    assert bench.phase == "PreparingRebalance"
    assert list(bench.machine.group.members) == ["a"]


# --- bounds ------------------------------------------------------------------------------------


def test_a_full_group_refuses_newcomers_and_keeps_its_members() -> None:
    bench = Bench(limits=GroupLimits(members_max=2))
    stable_pair(bench)
    refused = bench.refused(bench.join(fresh="c"))
    assert isinstance(refused.error, GroupFull)
    assert refused.member_id == ""
    assert bench.phase == "Stable"


def test_handed_out_ids_are_bounded_too() -> None:
    bench = Bench(limits=GroupLimits(members_max=10))
    errors = [
        type(bench.refused(bench.join(fresh=f"m{number}", needs_known_member_id=True)).error) for number in range(30)
    ]
    assert errors == [MemberIdRequired] * 10 + [GroupFull] * 20


def test_giant_metadata_is_refused() -> None:
    bench = Bench(limits=GroupLimits(member_bytes_max=100, group_bytes_max=150))
    assert isinstance(bench.refused(bench.join(offers=(ProtocolOffer("a", b"x" * 101),))).error, InvalidRequest)
    bench.join(fresh="a", offers=(ProtocolOffer("a", b"x" * 90),))
    second = bench.join(fresh="b", offers=(ProtocolOffer("a", b"x" * 90),))
    assert isinstance(bench.refused(second).error, GroupTooLarge)


def test_a_giant_assignment_is_refused() -> None:
    bench = Bench(limits=GroupLimits(group_bytes_max=150))
    bench.join(fresh="a")
    bench.pass_ms(3_000)
    assert bench.sync_error(bench.sync("a", 1, {"a": b"x" * 151})) is GroupTooLarge
    assert bench.phase == "CompletingRebalance"


# --- static members ----------------------------------------------------------------------------


def static_pair(bench: Bench) -> int:
    bench.join(fresh="a", instance_id="ia"), bench.join(fresh="b", instance_id="ib")
    bench.pass_ms(10_000)
    bench.sync("b", 1, instance_id="ib")
    bench.sync("a", 1, {"a": b"for a", "b": b"for b"}, instance_id="ia")
    assert bench.phase == "Stable"
    return 1


def test_a_static_member_comes_back_without_a_rebalance() -> None:
    bench = Bench()
    generation = static_pair(bench)
    back = bench.joined(bench.join(fresh="b2", instance_id="ib"))
    assert (back.member_id, back.generation, back.leader) == ("b2", generation, "a")
    assert bench.phase == "Stable"
    assert bench.synced(bench.sync("b2", generation, instance_id="ib")) == b"for b"


def test_the_former_holder_of_an_instance_is_fenced() -> None:
    bench = Bench()
    generation = static_pair(bench)
    bench.join(fresh="b2", instance_id="ib")
    with pytest.raises(FencedInstance):
        bench.heartbeat("b", generation, "ib")
    assert bench.sync_error(bench.sync("b", generation, instance_id="ib")) is FencedInstance
    assert isinstance(bench.refused(bench.join("b", instance_id="ib")).error, FencedInstance)
    with pytest.raises(UnknownMember):
        bench.heartbeat("b", generation)


def test_a_static_leader_that_comes_back_skips_the_assignment_from_version_9() -> None:
    bench = Bench()
    static_pair(bench)
    back = bench.joined(bench.join(fresh="a2", instance_id="ia", can_skip_assignment=True))
    assert back.leader == "a2"
    assert back.skip_assignment
    assert {member.member_id for member in back.members} == {"a2", "b"}


def test_an_older_static_leader_is_told_its_former_self_leads() -> None:
    bench = Bench()
    static_pair(bench)
    back = bench.joined(bench.join(fresh="a2", instance_id="ia"))
    assert (back.leader, back.members, back.skip_assignment) == ("a", (), False)


def test_a_static_member_that_changes_the_elected_protocol_begins_a_rebalance() -> None:
    bench = Bench()
    static_pair(bench)
    bench.join(fresh="b2", instance_id="ib", offers=(OFFERS[1],))
    assert bench.phase == "PreparingRebalance"


def test_a_static_member_that_returns_during_sync_begins_a_rebalance() -> None:
    bench = Bench()
    bench.join(fresh="a", instance_id="ia"), bench.join(fresh="b", instance_id="ib")
    bench.pass_ms(10_000)
    bench.join(fresh="b2", instance_id="ib")
    assert bench.phase == "PreparingRebalance"


def test_a_parked_join_is_fenced_when_its_instance_is_taken_over() -> None:
    bench = Bench()
    parked = bench.join(fresh="a", instance_id="ia")
    bench.join(fresh="a2", instance_id="ia")
    assert isinstance(bench.refused(parked).error, FencedInstance)


def test_static_members_are_not_left_behind_by_a_rebalance() -> None:
    bench = Bench()
    generation = static_pair(bench)
    newcomer = bench.join(fresh="c")
    for _ in range(12):
        bench.pass_ms(4_999)
        for member, instance in (("a", "ia"), ("b", "ib")):
            with pytest.raises(RebalanceInProgress):
                bench.heartbeat(member, generation, instance)
    bench.pass_ms(100)
    assert {member.member_id for member in bench.joined(newcomer).members} == {"a", "b", "c"}
    assert bench.joined(newcomer).leader == "c"
