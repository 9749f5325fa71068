"""Coordinators over one store in memory: what a broker would have around them."""

from collections.abc import Callable
from dataclasses import dataclass

from lakestream.broker.groups.administration import GroupAdministration
from lakestream.broker.groups.coordinator import Coordinator
from lakestream.broker.groups.holdings import Holdings
from lakestream.broker.groups.limits import GroupLimits
from lakestream.broker.groups.topics.topics import TopicsImage
from lakestream.model.broker import BrokerLease
from lakestream.world.tasks import Tasks
from tests.unit.groups.memory_store import MemoryGroupStore
from tests.unit.groups.virtual import VirtualClock


class FixedTopics:
    def __init__(self, image: TopicsImage) -> None:
        self.now = image

    def image(self) -> TopicsImage:
        return self.now

    async def refresh(self) -> None:
        pass


@dataclass
class Broker:
    holdings: Holdings
    coordinator: Coordinator
    administration: GroupAdministration
    tasks: Tasks


def _fail(name: str, error: BaseException) -> None:
    raise AssertionError(f"background task {name} failed") from error


def broker(
    store: MemoryGroupStore,
    topics: FixedTopics,
    *,
    id: int = 1,
    limits: GroupLimits | None = None,
    is_ours: Callable[[str], bool] = lambda _: True,
) -> Broker:
    tasks = Tasks(_fail)
    holdings = Holdings(
        store=store,
        topics=topics,
        lease=lambda: BrokerLease(broker_id=id, incarnation=1, ttl_ms=10_000),
        is_ours=is_ours,
        limits=limits or GroupLimits(),
        clock=VirtualClock(),
        tasks=tasks,
    )
    holdings.start()
    return Broker(holdings, Coordinator(holdings, store), GroupAdministration(holdings, store), tasks)
