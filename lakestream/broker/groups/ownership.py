"""Which broker coordinates a group: all that see the same live brokers agree. FindCoordinator answers by this."""

from collections.abc import Sequence

from lakestream.broker.leaders import choose
from lakestream.model.broker import LiveBroker


def coordinator_of(brokers: Sequence[LiveBroker], group: str) -> LiveBroker:
    return choose(brokers, group.encode())
