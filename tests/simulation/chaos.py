"""Chaos: what goes wrong beside the stores. Processes die, drain, freeze; networks part; clocks jump.

every kind has its own pace (Scenario), its own seeded dice, and ends when the storm ends
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic

from lakestream.world.tasks import Tasks

from .clocks import WorldClock
from .life import Life
from .processes import P, Processes, Running
from .scenario import Pace
from .trace import Trace

JUMP_MS_MAX = 3_600_000
JUMPED_MS_MAX = 12 * 3_600_000
"""In all, in either direction: producers are forgotten after a day, and that is not what jumps are to test."""


DRAIN_SECONDS_MAX = 10.0


class Chaos(Generic[P]):
    """For the processes of one kind. They are frozen for about one of `freezes`, some with their clocks."""

    def __init__(
        self,
        processes: Processes[P],
        pace: Pace,
        *,
        freezes: Sequence[float],
        drain: Callable[[P], Awaitable[None]],
        tasks: Tasks,
        trace: Trace,
        rng: random.Random,
        suspended_chance: float = 0.3,
    ) -> None:
        self._suspended_chance = suspended_chance
        self._processes = processes
        self._pace = pace
        self._freezes = freezes
        self._drain_one = drain
        self._tasks = tasks
        self._trace = trace
        self._rng = rng

    def start(self) -> None:
        pace = self._pace
        for seconds, act in (
            (pace.kill_seconds, self._kill),
            (pace.drain_seconds, self._drain),
            (pace.freeze_seconds, self._freeze),
            (pace.cut_seconds, self._cut),
        ):
            if seconds is not None:
                self._tasks.spawn(repeat(seconds, act, self._rng), name=f"chaos-{act.__name__}")

    def _pick(self) -> Running[P] | None:
        running = self._processes.running
        return running[self._rng.choice(sorted(running))] if running else None

    async def _kill(self) -> None:
        if (victim := self._pick()) is not None:
            victim.life.kill("chaos")

    async def _drain(self) -> None:
        """A polite end: SIGTERM."""
        if (victim := self._pick()) is None or victim.life.is_frozen:
            return
        self._trace.note("drain", victim.life.name)
        draining = self._tasks.spawn(_drained(self._drain_one, victim.process), name="drain")
        try:
            await asyncio.wait([draining], timeout=DRAIN_SECONDS_MAX)
        finally:
            victim.life.kill("drained" if draining.done() else "too slow to drain")

    async def _freeze(self) -> None:
        """For less than a lease, more than a lease, or more than the grace; perhaps with a successor meanwhile."""
        if (victim := self._pick()) is None or victim.life.is_frozen:
            return
        seconds = self._rng.choice(self._freezes) * self._rng.uniform(0.8, 1.2)
        victim.life.freeze()
        if self._rng.random() < 0.5:
            self._processes.set_aside(victim.id)
        self._tasks.spawn(self._thaw(victim.life, seconds), name="thaw")

    async def _thaw(self, life: Life, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if not life.is_dead:
            life.thaw(was_suspended=self._rng.random() < self._suspended_chance)

    async def _cut(self) -> None:
        """The network between a process and one of its stores, for a while."""
        if (victim := self._pick()) is None:
            return
        room = self._rng.choice(["store", "objects"])
        weather = victim.life.weathers[room]
        self._trace.note("cut", victim.life.name, room)
        weather.cut_off = True
        await asyncio.sleep(self._rng.uniform(0.5, 12.0))
        weather.cut_off = False


async def jump_clocks(seconds: float, clock: WorldClock, trace: Trace, rng: random.Random) -> None:
    """All wall clocks, forward or back, by seconds to an hour; for ever."""
    jumped_ms = 0

    async def jump() -> None:
        nonlocal jumped_ms
        ms = int(rng.choice([-1, 1]) * JUMP_MS_MAX ** rng.uniform(0.4, 1.0))
        if abs(jumped_ms + ms) <= JUMPED_MS_MAX:
            trace.note("jump", ms)
            jumped_ms += ms
            clock.jump(ms)

    await repeat(seconds, jump, rng)


async def repeat(seconds: float, act: Callable[[], Awaitable[None]], rng: random.Random) -> None:
    while True:
        await asyncio.sleep(rng.expovariate(1 / seconds))
        await act()


async def _drained(drain: Callable[[P], Awaitable[None]], process: P) -> None:
    await drain(process)
