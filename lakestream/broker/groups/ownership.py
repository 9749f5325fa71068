"""Which broker coordinates a group. Brokers that see the same live brokers agree. FindCoordinator answers by this."""

from collections.abc import Sequence
from typing import Protocol

from lakestream.broker.leaders import choose
from lakestream.model.broker import BrokerSpec, LiveBroker

REMEMBERED_MAX = 100_000
"""Groups. Every request asks, and the answer is the same while brokers neither come nor go."""


class LiveBrokers(Protocol):
    spec: BrokerSpec

    def is_held(self) -> bool: ...

    def live(self) -> tuple[LiveBroker, ...]: ...


def coordinator_of(brokers: Sequence[LiveBroker], group: str) -> LiveBroker:
    return choose(brokers, group.encode())


class Ownership:
    """Which groups belong to this broker. A broker whose lease ran out owns nothing, whatever it remembers."""

    def __init__(self, cluster: LiveBrokers) -> None:
        self._cluster = cluster
        self._live: tuple[LiveBroker, ...] = ()
        self._ours: dict[str, bool] = {}

    def is_ours(self, group: str) -> bool:
        if not self._cluster.is_held():
            return False
        live = self._cluster.live()
        if live is not self._live:
            self._look_at(live)
        ours = self._ours.get(group)
        return self._remembered(group) if ours is None else ours

    def _look_at(self, live: tuple[LiveBroker, ...]) -> None:
        if live != self._live:
            self._ours = {}
        self._live = live

    def _remembered(self, group: str) -> bool:
        if len(self._ours) >= REMEMBERED_MAX:
            self._ours = {}
        ours = self._ours[group] = coordinator_of(self._live, group).id == self._cluster.spec.id
        return ours
