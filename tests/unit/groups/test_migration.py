"""A group changes its protocol online, in both directions."""

import pytest

from lakestream.broker.groups.classic.group import ClassicGroup
from lakestream.broker.groups.consumer.group import ConsumerGroup
from lakestream.broker.groups.embedded import read_assignment, write_assignment
from lakestream.broker.groups.errors import GroupNotFound, InconsistentProtocol, MemberIdRequired, RebalanceInProgress
from lakestream.broker.groups.saved.state import ProtocolOffer
from lakestream.model.errors import IllegalGeneration
from tests.unit.groups.bench import Bench, partitions, subscription, topics

ORDERS = frozenset({"orders"})


def offers(owned: list[int] | None = None) -> tuple[ProtocolOffer, ...]:
    return (ProtocolOffer("cooperative-sticky", subscription("orders", owned={"orders": owned} if owned else None)),)


def classic_group(bench: Bench) -> int:
    """Classic members "a" and "b", reading orders 0-1 and 2-3."""
    bench.join(fresh="a", offers=offers()), bench.join(fresh="b", offers=offers())
    bench.pass_ms(10_000)
    bench.sync("b", 1)
    bench.sync("a", 1, {"a": write_assignment(1, {"orders": [0, 1]}), "b": write_assignment(1, {"orders": [2, 3]})})
    assert bench.phase == "Stable"
    return 1


def rejoin(bench: Bench, member: str, owned: list[int]) -> tuple[int, dict[str, frozenset[int]]]:
    joined = bench.joined(bench.join(member, offers=offers(owned)))
    given = bench.synced(bench.sync(member, joined.generation, protocol="cooperative-sticky", protocol_type="consumer"))
    return joined.generation, dict(read_assignment(given).partitions)


def test_a_consumer_member_upgrades_a_classic_group() -> None:
    bench = Bench(topics=topics(orders=4))
    generation = classic_group(bench)
    newcomer = bench.consumer("c", 0, topics=ORDERS)
    assert isinstance(bench.machine.group, ConsumerGroup)
    assert newcomer.member_epoch == generation + 1
    assert newcomer.assignment == frozenset(), "the others have not let go"
    group = bench.machine.group
    assert group.members["a"].assigned == partitions("orders", 0, 1)
    giver = next(member for member in "ab" if len(group.target_of(member)) == 1)
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat(giver, generation)
    had = [0, 1] if giver == "a" else [2, 3]
    _, kept = rejoin(bench, giver, had)
    assert len(kept["orders"]) == 1, "told to let one go"
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat(giver, generation)
    after, still = rejoin(bench, giver, sorted(kept["orders"]))
    assert (after, still) == (generation + 1, kept)
    bench.heartbeat(giver, after)
    given = bench.consumer("c", newcomer.member_epoch).assignment
    assert given is not None and len(given) == 1
    other = "b" if giver == "a" else "a"
    rejoin(bench, other, [2, 3] if other == "b" else [0, 1])
    assert bench.phase == "Stable"


def test_parked_members_are_sent_to_join_again_by_an_upgrade() -> None:
    bench = Bench(topics=topics(orders=4))
    classic_group(bench)
    parked = bench.join(fresh="d", offers=offers())
    bench.consumer("c", 0, topics=ORDERS)
    assert isinstance(bench.refused(parked).error, RebalanceInProgress)


def test_a_group_that_cannot_be_upgraded_is_left_alone() -> None:
    bench = Bench(topics=topics(orders=4))
    bench.join(fresh="w", protocol_type="connect", offers=(ProtocolOffer("default", b""),))
    bench.pass_ms(3_000)
    bench.sync("w", 1, {"w": b"tasks"})
    with pytest.raises(GroupNotFound, match="embedded protocol"):
        bench.consumer("c", 0, topics=ORDERS)
    bench.heartbeat("w", 1)
    custom = Bench(topics=topics(orders=4))
    custom.join(fresh="a", offers=offers())
    custom.pass_ms(3_000)
    with_user_data = write_assignment(1, {"orders": [0]})[:-4] + b"\0\0\0\x01x"
    custom.sync("a", 1, {"a": with_user_data})
    with pytest.raises(GroupNotFound, match="custom assignor"):
        custom.consumer("c", 0, topics=ORDERS)


def test_an_empty_group_changes_its_protocol_freely_and_its_epochs_never_fall() -> None:
    bench = Bench(topics=topics(orders=4))
    classic_group(bench)
    bench.leave(("a", None), ("b", None))
    epoch = bench.consumer("c", 0, topics=ORDERS).member_epoch
    assert epoch > 1
    bench.consumer("c", -1)
    again = bench.join(fresh="a", offers=offers())
    assert isinstance(bench.machine.group, ClassicGroup)
    bench.pass_ms(3_000)
    assert bench.joined(again).generation > epoch


def test_a_classic_member_joins_a_consumer_group() -> None:
    bench = Bench(topics=topics(orders=4))
    epoch = bench.consumer("c", 0, topics=ORDERS).member_epoch
    refused = bench.refused(bench.join(fresh="a", needs_known_member_id=True, offers=offers()))
    assert isinstance(refused.error, MemberIdRequired)
    joined = bench.joined(bench.join(refused.member_id, needs_known_member_id=True, offers=offers()))
    assert (joined.leader, joined.members) == ("", ())
    bench.consumer("c", epoch)
    bench.consumer("c", epoch, owned=frozenset())
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat("a", joined.generation)
    generation, given = rejoin(bench, "a", [])
    assert len(given["orders"]) == 2
    bench.heartbeat("a", generation)
    with pytest.raises(IllegalGeneration):
        bench.heartbeat("a", generation + 1)
    wrong = bench.join(fresh="x", protocol_type="connect", offers=(ProtocolOffer("default", b""),))
    assert isinstance(bench.refused(wrong).error, InconsistentProtocol)
    malformed = bench.join(fresh="y", offers=(ProtocolOffer("cooperative-sticky", b"\0"),))
    assert isinstance(bench.refused(malformed).error, InconsistentProtocol)


def test_the_last_consumer_member_that_leaves_downgrades_the_group() -> None:
    bench = Bench(topics=topics(orders=4))
    classic_group(bench)
    bench.consumer("c", 0, topics=ORDERS)
    bench.consumer("c", -1)
    assert isinstance(bench.machine.group, ClassicGroup)
    assert bench.phase == "PreparingRebalance"
    a, b = bench.join("a", offers=offers([0, 1])), bench.join("b", offers=offers([2, 3]))
    assert bench.joined(a).leader == "a"
    assert bench.joined(a).generation == bench.joined(b).generation > 2


def test_a_consumer_member_that_falls_silent_downgrades_the_group() -> None:
    bench = Bench(topics=topics(orders=4))
    bench.join(fresh="a", offers=offers(), session_timeout_ms=600_000)
    bench.pass_ms(3_000)
    bench.sync("a", 1, {"a": write_assignment(1, {"orders": [0, 1, 2, 3]})})
    bench.consumer("c", 0, topics=ORDERS)
    bench.pass_ms(45_001)
    assert isinstance(bench.machine.group, ClassicGroup)


def test_a_classic_member_that_does_not_join_again_in_time_is_removed() -> None:
    bench = Bench(topics=topics(orders=4))
    generation = classic_group(bench)
    newcomer = bench.consumer("c", 0, topics=ORDERS)
    epoch = newcomer.member_epoch
    for _ in range(13):
        for member in "ab":
            if member in bench.machine.group.members:
                with pytest.raises(RebalanceInProgress):
                    bench.heartbeat(member, generation)
        epoch = bench.consumer("c", epoch, owned=frozenset()).member_epoch
        bench.pass_ms(5_000)
    assert list(bench.machine.group.members) == ["c"]
    bench.consumer("c", epoch, owned=frozenset())
    assert bench.machine.group.members["c"].assigned == partitions("orders", 0, 1, 2, 3)  # type: ignore[union-attr]


def test_a_static_member_moves_between_the_protocols() -> None:
    bench = Bench(topics=topics(orders=4))
    bench.join(fresh="a", instance_id="ia", offers=offers()), bench.join(fresh="b", offers=offers())
    bench.pass_ms(10_000)
    bench.sync("b", 1)
    given = {"a": write_assignment(1, {"orders": [0, 1]}), "b": write_assignment(1, {"orders": [2, 3]})}
    bench.sync("a", 1, given, instance_id="ia")
    moved = bench.consumer("a2", 0, topics=ORDERS, instance_id="ia")
    assert moved.assignment == partitions("orders", 0, 1)
    assert isinstance(bench.machine.group, ConsumerGroup)
    bench.join(fresh="a3", instance_id="ia", offers=offers())
    assert isinstance(bench.machine.group, ClassicGroup)
    assert set(bench.machine.group.members) == {"a3", "b"}


def test_an_upgraded_group_goes_on_under_another_coordinator() -> None:
    bench = Bench(topics=topics(orders=4))
    generation = classic_group(bench)
    bench.consumer("c", 0, topics=ORDERS)
    bench.take_over()
    with pytest.raises(RebalanceInProgress):
        bench.heartbeat("a", generation)
