"""Faults on purpose: each is what it says, and a seed decides them all."""

import asyncio

import pytest

from lakestream.model.errors import LakestreamError, ObjectExists, ObjectMissing, StorageFull, StoreUnavailable
from lakestream.world.chance import SeededChance
from lakestream.world.clock import SystemClock
from lakestream.world.objects.faulty import (
    Fault,
    FaultKind,
    FaultRates,
    FaultyObjects,
    RandomFaults,
    ScriptedFaults,
)
from lakestream.world.objects.memory import MemoryObjects


class StoppedClock:
    """Sleeping takes no time, but is remembered."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def wall_ms(self) -> int:
        return 0

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def faulty(verb: str, *kinds: FaultKind) -> FaultyObjects:
    clock = SystemClock()
    return FaultyObjects(MemoryObjects(clock), clock=clock, faults=ScriptedFaults(verb, map(Fault, kinds)))


def test_a_refused_put_was_not_done() -> None:
    async def body() -> None:
        store = faulty("put", FaultKind.REFUSED)
        with pytest.raises(StoreUnavailable):
            await store.put("a", [b"1"])
        with pytest.raises(ObjectMissing):
            await store.get("a")
        await store.put("a", [b"2"])

    asyncio.run(body())


def test_a_put_with_a_lost_answer_was_done() -> None:
    async def body() -> None:
        store = faulty("put", FaultKind.LOST_ANSWER)
        with pytest.raises(StoreUnavailable):
            await store.put("a", [b"1"])
        with pytest.raises(ObjectExists):
            await store.put("a", [b"1"])

    asyncio.run(body())


def test_a_full_store_refuses_puts() -> None:
    with pytest.raises(StorageFull):
        asyncio.run(faulty("put", FaultKind.FULL).put("a", [b"1"]))


def test_an_object_can_be_missing_once() -> None:
    async def body() -> None:
        store = faulty("get", FaultKind.MISSING)
        await store.put("a", [b"1"])
        with pytest.raises(ObjectMissing):
            await store.get("a")
        assert await store.get("a") == b"1"

    asyncio.run(body())


def test_slowness_is_slept_on_the_clock_passed_in() -> None:
    clock = StoppedClock()
    store = FaultyObjects(
        MemoryObjects(clock), clock=clock, faults=ScriptedFaults("put", [Fault(FaultKind.NONE, 3600.0)])
    )
    asyncio.run(store.put("a", [b"1"]))
    assert clock.slept == [3600.0]


def history(seed: int) -> list[str]:
    rates = FaultRates(slow=0.3, refused=0.2, lost_answer=0.2, full=0.1, missing=0.2)
    clock = StoppedClock()
    store = FaultyObjects(MemoryObjects(clock), clock=clock, faults=RandomFaults(SeededChance(seed), rates))

    async def body() -> list[str]:
        return [await outcome(store, number) for number in range(200)]

    return [*asyncio.run(body()), *map(str, clock.slept)]


async def outcome(store: FaultyObjects, number: int) -> str:
    try:
        await store.put(f"k{number % 50}", [b"x"])
        await store.get(f"k{number % 50}")
    except LakestreamError as error:
        return type(error).__name__
    return "fine"


def test_a_seed_decides_every_fault() -> None:
    assert history(7) == history(7)
    assert history(7) != history(8)
    assert {"StoreUnavailable", "StorageFull", "ObjectMissing", "ObjectExists", "fine"} <= set(history(7))


def test_faults_can_be_calmed() -> None:
    async def body() -> None:
        store = faulty("put", *[FaultKind.REFUSED] * 10)
        store.faults = ScriptedFaults("put", [])
        await store.put("a", [b"1"])

    asyncio.run(body())
