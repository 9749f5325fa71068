"""A store that fails on purpose, as real ones do: for tests and the simulation.

    FaultyObjects(MemoryObjects(clock), clock=clock, faults=RandomFaults(chance, FaultRates(lost_answer=0.05)))

Before each call it asks `faults` which fault to inject. All waiting uses the given clock, and all randomness the given
Chance, so a seed decides every fault.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

from lakestream.model.errors import ObjectMissing, StorageFull, StoreUnavailable
from lakestream.world.chance import Chance
from lakestream.world.clock import Clock
from lakestream.world.objects.store import Buffer, ObjectInfo, ObjectStore


class FaultKind(Enum):
    NONE = "none"
    REFUSED = "refused"
    """The call fails before anything was done."""
    LOST_ANSWER = "lost answer"
    """The work is done, but the caller gets the error that the store did not answer."""
    FULL = "full"
    """There is no room. Only puts can meet this fault."""
    MISSING = "missing"
    """The store claims that the object does not exist. Only reads can meet this fault."""


class Fault(NamedTuple):
    kind: FaultKind = FaultKind.NONE
    delay_seconds: float = 0.0


class Faults(Protocol):
    def next(self, verb: str, key: str) -> Fault:
        """The fault of this call. `verb` is a method name of ObjectStore."""
        ...


class ScriptedFaults:
    """Each call of `verb` takes the next fault. When they are used up, calls succeed."""

    def __init__(self, verb: str, faults: Iterable[Fault]) -> None:
        self._verb = verb
        self._waiting = list(faults)

    def next(self, verb: str, key: str) -> Fault:
        return self._waiting.pop(0) if verb == self._verb and self._waiting else Fault()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRates:
    """How often a call meets each fault, from 0 to 1. The kinds exclude each other; slowness comes on top."""

    slow: float = 0.0
    slow_seconds_max: float = 5.0
    refused: float = 0.0
    lost_answer: float = 0.0
    full: float = 0.0
    missing: float = 0.0


class RandomFaults:
    def __init__(self, chance: Chance, rates: FaultRates) -> None:
        self._chance = chance
        self._rates = rates

    def next(self, verb: str, key: str) -> Fault:
        # Always the same number of draws, so that changing one rate does not shift all later choices.
        slow, seconds, kind = (self._chance.uniform(0, 1) for _ in range(3))
        delay = seconds * self._rates.slow_seconds_max if slow < self._rates.slow else 0.0
        return Fault(self._kind(kind), delay)

    def _kind(self, drawn: float) -> FaultKind:
        rates = self._rates
        for kind, rate in (
            (FaultKind.REFUSED, rates.refused),
            (FaultKind.LOST_ANSWER, rates.lost_answer),
            (FaultKind.FULL, rates.full),
            (FaultKind.MISSING, rates.missing),
        ):
            if drawn < rate:
                return kind
            drawn -= rate
        return FaultKind.NONE


class FaultyObjects:
    def __init__(self, inner: ObjectStore, *, clock: Clock, faults: Faults) -> None:
        self.url = inner.url
        self.is_remote = inner.is_remote
        self.faults = faults
        """May be replaced while running: a simulation turns faults off before it checks."""
        self._inner = inner
        self._clock = clock

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        async with self._disturbed("put", key):
            await self._inner.put(key, parts)

    async def get(self, key: str) -> Buffer:
        async with self._disturbed("get", key):
            return await self._inner.get(key)

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        async with self._disturbed("get_range", key):
            return await self._inner.get_range(key, at, length)

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        async with self._disturbed("get_tail", key):
            return await self._inner.get_tail(key, length)

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        async with self._disturbed("sizes", keys[0] if keys else ""):
            return await self._inner.sizes(keys)

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        async with self._disturbed("list", prefix):
            async for info in self._inner.list(prefix):
                yield info

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        async with self._disturbed("delete", keys[0] if keys else ""):
            await self._inner.delete(keys, unused_folders=unused_folders)

    async def close(self) -> None:
        await self._inner.close()

    @asynccontextmanager
    async def _disturbed(self, verb: str, key: str) -> AsyncIterator[None]:
        kind, delay_seconds = self.faults.next(verb, key)
        if delay_seconds:
            await self._clock.sleep(delay_seconds)
        _fail_before(kind, verb, key)
        yield
        if kind is FaultKind.LOST_ANSWER:
            raise StoreUnavailable(f"injected: the answer to {verb} {key} was lost")


def _fail_before(kind: FaultKind, verb: str, key: str) -> None:
    if kind is FaultKind.REFUSED:
        raise StoreUnavailable(f"injected: {verb} {key} was refused")
    if kind is FaultKind.FULL and verb == "put":
        raise StorageFull(f"injected: no room for {key}")
    if kind is FaultKind.MISSING and verb.startswith("get"):
        raise ObjectMissing(f"injected: {key} is not there")
