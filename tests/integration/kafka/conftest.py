"""Brokers and clients that the tests of this folder share."""

from collections.abc import Iterator
from itertools import count

import pytest

from lakestream.broker.broker import BrokerLimits
from lakestream.broker.groups.limits import GroupLimits
from lakestream.testing.local import LocalLakestream

from .running import Running, running
from .wire_client import WireClient

_numbers = count()


@pytest.fixture(scope="session")
def lakestream() -> Iterator[Running]:
    """Two brokers over one store, for tests that only add to it."""
    groups = GroupLimits(initial_rebalance_delay_ms=0, session_timeout_ms_min=100)
    with running(LocalLakestream(brokers=2, limits=BrokerLimits(groups=groups))) as service:
        yield service


@pytest.fixture
def client(lakestream: Running) -> Iterator[WireClient]:
    with WireClient(lakestream.addresses[0]) as connected:
        yield connected


@pytest.fixture
def other_client(lakestream: Running) -> Iterator[WireClient]:
    """Connected to the other broker."""
    with WireClient(lakestream.addresses[1]) as connected:
        yield connected


@pytest.fixture
def name() -> str:
    """A topic name that no other test uses."""
    return f"topic-{next(_numbers)}"


@pytest.fixture
def topic(name: str, client: WireClient) -> str:
    """A topic of three partitions."""
    client.create_topic(name, partitions=3)
    return name
