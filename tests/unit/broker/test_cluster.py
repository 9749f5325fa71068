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


class MovedClock(SystemClock):
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        return self.now_s

    def wall_ms(self) -> int:
        return int(self.now_s * 1000)


def test_a_broker_whose_renewal_is_late_is_listed_for_another_lease_and_given_nothing() -> None:
    """librdkafka ends its thread for a broker that Metadata leaves out, and moves its partitions; a lease that ran out
    for a moment on a busy machine cost each client that, and its partitions were read by nobody meanwhile."""

    async def story() -> None:
        clock = MovedClock()
        ids = Ids(clock, SeededChance(1))
        store = await open_sqlite("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda _: InlineThreads())
        tasks = Tasks(lambda name, error: None)
        one, two = (
            Cluster(
                spec=BrokerSpec(id=id, host="h", port=id, rack=None, http=""),
                cluster_id="c",
                ttl_ms=ttl_ms,
                store=store,
                clock=clock,
                tasks=tasks,
            )
            for id, ttl_ms in ((1, 10_000), (2, 2_000))
        )
        await two.join()
        await one.join()

        async def after(seconds: float) -> tuple[list[int], list[int]]:
            clock.now_s += seconds
            await one.refresh_live()
            return [each.id for each in one.live()], [each.id for each in one.listed()]

        assert await after(1.0) == ([1, 2], [1, 2])
        assert await after(1.5) == ([1], [1, 2])
        await two.join()  # it registers anew
        assert await after(0.5) == ([1, 2], [1, 2])
        assert await after(4.0) == ([1], [1, 2])
        assert await after(10.0) == ([1], [1])
        await tasks.close()
        await store.close()

    asyncio.run(story())


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
