"""Chaos: what goes wrong beside the stores. Processes die, drain, freeze; networks part; clocks jump.

every kind has its own pace (Scenario), its own seeded dice, and ends when the storm ends
"""

import asyncio
import random
from collections.abc import Awaitable, Callable

from lakestream.world.tasks import Tasks

from .clocks import WorldClock
from .life import Life
from .scenario import GRACE_MS, Scenario
from .site import Running, Site
from .trace import Trace

JUMP_MS_MAX = 3_600_000
JUMPED_MS_MAX = 12 * 3_600_000
"""In all, in either direction: producers are forgotten after a day, and that is not what jumps are to test."""


DRAIN_SECONDS_MAX = 10.0


class Chaos:
    def __init__(
        self, scenario: Scenario, site: Site, clock: WorldClock, tasks: Tasks, trace: Trace, rng: random.Random
    ) -> None:
        self._scenario = scenario
        self._site = site
        self._clock = clock
        self._tasks = tasks
        self._trace = trace
        self._rng = rng
        self._jumped_ms = 0

    def start(self) -> None:
        scenario = self._scenario
        for seconds, act in (
            (scenario.kill_seconds, self._kill),
            (scenario.drain_seconds, self._drain),
            (scenario.freeze_seconds, self._freeze),
            (scenario.cut_seconds, self._cut),
            (scenario.jump_seconds, self._jump),
        ):
            if seconds is not None:
                self._tasks.spawn(self._repeat(seconds, act), name=f"chaos-{act.__name__}")

    async def _repeat(self, seconds: float, act: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(self._rng.expovariate(1 / seconds))
            await act()

    def _pick(self) -> Running | None:
        running = self._site.running
        return running[self._rng.choice(sorted(running))] if running else None

    async def _kill(self) -> None:
        if (victim := self._pick()) is not None:
            victim.life.kill("chaos")

    async def _drain(self) -> None:
        """A polite end: SIGTERM."""
        if (victim := self._pick()) is None or victim.life.is_frozen:
            return
        self._trace.note("drain", victim.life.name)
        draining = self._tasks.spawn(victim.broker.drain(), name="drain")
        try:
            await asyncio.wait([draining], timeout=DRAIN_SECONDS_MAX)
        finally:
            victim.life.kill("drained" if draining.done() else "too slow to drain")

    async def _freeze(self) -> None:
        """For less than a lease, more than a lease, or more than the grace; perhaps with a successor meanwhile."""
        if (victim := self._pick()) is None or victim.life.is_frozen:
            return
        lease, grace = self._scenario.limits.lease_ms / 1000, GRACE_MS / 1000
        seconds = self._rng.choice([0.5 * lease, 1.5 * lease, 1.5 * grace, 3 * grace]) * self._rng.uniform(0.8, 1.2)
        victim.life.freeze()
        if self._rng.random() < 0.5:
            self._site.set_aside(victim.broker.cluster.spec.id)
        self._tasks.spawn(self._thaw(victim.life, seconds), name="thaw")

    async def _thaw(self, life: Life, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if not life.is_dead:
            life.thaw(was_suspended=self._rng.random() < 0.3)

    async def _cut(self) -> None:
        """The network between a broker and one of its stores, for a while."""
        if (victim := self._pick()) is None:
            return
        room = self._rng.choice(["store", "objects"])
        weather = victim.life.weathers[room]
        self._trace.note("cut", victim.life.name, room)
        weather.cut_off = True
        await asyncio.sleep(self._rng.uniform(0.5, 12.0))
        weather.cut_off = False

    async def _jump(self) -> None:
        """All wall clocks, forward or back, by seconds to an hour."""
        ms = int(self._rng.choice([-1, 1]) * JUMP_MS_MAX ** self._rng.uniform(0.4, 1.0))
        if abs(self._jumped_ms + ms) <= JUMPED_MS_MAX:
            self._trace.note("jump", ms)
            self._jumped_ms += ms
            self._clock.jump(ms)
