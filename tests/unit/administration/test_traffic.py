"""Traffic of the last hour: rates from counters that may start over, within a bound."""

import asyncio
from collections.abc import Mapping

from lakestream.administration.traffic import COUNTERS, SAMPLES_MAX, Traffic
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec, LiveBroker
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids


class Counted:
    """A broker whose counters all have one value."""

    def __init__(self) -> None:
        self.value: float | None = 0.0

    async def counters(self, broker: LiveBroker) -> Mapping[str, float] | None:
        return None if self.value is None else dict.fromkeys(COUNTERS, self.value)


class SteppedClock(SystemClock):
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


async def started() -> tuple[MetadataStore, Traffic, Counted, SteppedClock]:
    clock, counted = SteppedClock(), Counted()
    ids = Ids(SystemClock(), SystemChance())
    store = await open_store("sqlite:///:memory:", clock=SystemClock(), ids=ids)
    await store.register_broker(BrokerSpec(id=1, host="h", port=1, rack=None, http="h:1"), 60_000)
    return store, Traffic(store, counted, clock), counted, clock


def test_rates_are_differences_of_counters_and_a_restart_counts_as_nothing() -> None:
    async def scenario() -> None:
        store, traffic, counted, clock = await started()
        for value in (100.0, 200.0, 30.0, 80.0, None, 90.0, 190.0):
            counted.value = value
            await traffic.sample()
            clock.now += 10.0
        assert [one.produced_bytes for one in traffic.history()] == [10.0, 0.0, 5.0, 0.0, 0.0, 10.0]
        await store.close()

    asyncio.run(scenario())


def test_the_history_is_bounded() -> None:
    async def scenario() -> None:
        store, traffic, _, clock = await started()
        for _ in range(SAMPLES_MAX + 20):
            await traffic.sample()
            clock.now += 10.0
        assert len(traffic.history()) == SAMPLES_MAX
        await store.close()

    asyncio.run(scenario())
