"""Which groups are a broker's: by the brokers that live, as long as its own lease holds."""

import pytest

from lakestream.broker.groups import ownership
from lakestream.broker.groups.ownership import Ownership, coordinator_of
from lakestream.model.broker import BrokerSpec, LiveBroker

GROUPS = [f"group-{number}" for number in range(50)]


def broker(number: int) -> LiveBroker:
    return LiveBroker(id=number, host="h", port=number, rack=None, http="h:0", incarnation=1)


class Cluster:
    def __init__(self, *live: int) -> None:
        self.spec = BrokerSpec(id=1, host="h", port=1, rack=None, http="h:0")
        self.held = True
        self.see(*live)

    def see(self, *live: int) -> None:
        self.brokers = tuple(broker(number) for number in live)

    def is_held(self) -> bool:
        return self.held

    def live(self) -> tuple[LiveBroker, ...]:
        return self.brokers


def ours(of: Ownership) -> list[str]:
    return [group for group in GROUPS if of.is_ours(group)]


def test_what_is_ours_follows_the_brokers_that_live() -> None:
    cluster = Cluster(1, 2)
    of = Ownership(cluster)
    half = ours(of)
    assert half == [group for group in GROUPS if coordinator_of(cluster.live(), group).id == 1]
    assert 0 < len(half) < len(GROUPS)
    cluster.see(1)
    assert ours(of) == GROUPS
    cluster.see(1, 2)
    assert ours(of) == half


def test_a_broker_without_a_lease_owns_nothing_that_it_remembers() -> None:
    cluster = Cluster(1)
    of = Ownership(cluster)
    assert ours(of) == GROUPS
    cluster.held = False
    assert ours(of) == []
    cluster.held = True
    assert ours(of) == GROUPS


def test_no_more_groups_are_remembered_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ownership, "REMEMBERED_MAX", 7)
    of = Ownership(Cluster(1, 2))
    assert ours(of) == ours(of)
    assert len(of._ours) <= 7
