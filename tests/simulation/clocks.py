"""Time in the simulation: one virtual time for all; a wall clock that jumps; a broker's own view of both."""

import asyncio
from typing import Protocol

EPOCH_MS = 1_700_000_000_000
SLEEP_SECONDS_MIN = 1e-6
"""Real sleeps take some time, however short they were meant to be; here they could be too short to count."""


class WorldClock:
    """The wall clock of the machines and of the metadata store. Jumps move it; virtual time knows nothing of them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jumped_ms = 0

    def wall_ms(self) -> int:
        return EPOCH_MS + int(self._loop.time() * 1000) + self._jumped_ms

    def monotonic(self) -> float:
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(seconds, SLEEP_SECONDS_MIN))

    def jump(self, ms: int) -> None:
        self._jumped_ms += ms


class Pausable(Protocol):
    async def awake(self) -> None: ...


class BrokerClock:
    """A broker's clocks: skewed against the world's, and asleep while the process is frozen.

    A stopped process finds that monotonic time has passed; one on a suspended machine may not.
    """

    def __init__(self, world: WorldClock, life: Pausable, skew_ms: int) -> None:
        self._world = world
        self._life = life
        self._skew_ms = skew_ms
        self._suspended_seconds = 0.0

    def wall_ms(self) -> int:
        return self._world.wall_ms() + self._skew_ms

    def monotonic(self) -> float:
        return self._world.monotonic() - self._suspended_seconds

    async def sleep(self, seconds: float) -> None:
        await self._world.sleep(seconds)
        await self._life.awake()

    def suspend(self, seconds: float) -> None:
        """That long passed without this clock counting it."""
        self._suspended_seconds += seconds
