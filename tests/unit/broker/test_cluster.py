"""A broker's place in the cluster: taken, kept and given up."""

import asyncio

from lakestream.broker.cluster import Cluster
from lakestream.metadata.sqlite.opening import open_sqlite
from lakestream.metadata.sqlite.store import SqliteStore
from lakestream.model.broker import BrokerLease, BrokerSpec
from lakestream.model.errors import StoreUnavailable
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads


class Unreachable:
    """A store that cannot be told of a farewell."""

    def __init__(self, store: SqliteStore) -> None:
        self.register_broker = store.register_broker
        self.live_brokers = store.live_brokers

    async def leave_broker(self, lease: BrokerLease) -> None:
        raise StoreUnavailable("the network is gone")


def test_a_broker_that_cannot_say_goodbye_leaves_all_the_same() -> None:
    async def story() -> None:
        clock = SystemClock()
        ids = Ids(clock, SeededChance(1))
        store = await open_sqlite("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda _: InlineThreads())
        tasks = Tasks(lambda name, error: None)
        cluster = Cluster(
            spec=BrokerSpec(id=1, host="h", port=1, rack=None, http=""),
            cluster_id="c",
            ttl_ms=60_000,
            store=Unreachable(store),  # type: ignore[arg-type]
            clock=clock,
            tasks=tasks,
        )
        await cluster.join()
        await cluster.leave()
        assert [broker.id for broker in await store.live_brokers()] == [1]  # until its lease runs out
        await tasks.close()
        await store.close()

    asyncio.run(story())
