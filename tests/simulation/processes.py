"""Processes under supervision: one that dies is started again, under the same id, as a new life.

A life can be set aside as a zombie: it is frozen or forgotten by its supervisor, but not dead, and a new
life with the same id is started while it may wake at any time.
"""

import asyncio
import random
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from lakestream.model.errors import LakestreamError
from lakestream.world.tasks import Tasks

from .clocks import WorldClock
from .life import Life
from .trace import Trace
from .verdict import Verdict
from .weather import CALM, Rates, Weather

START_PAUSE_SECONDS = 0.5
SKEW_MS_MAX = 300

P = TypeVar("P")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running(Generic[P]):
    id: int
    life: Life
    process: P


class Processes(ABC, Generic[P]):
    """Processes of one kind. `rates` are their weathers in the storm, by what they reach."""

    def __init__(
        self,
        kind: str,
        count: int,
        rates: Mapping[str, Rates],
        *,
        clock: WorldClock,
        network: Tasks,
        trace: Trace,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        self.running: dict[int, Running[P]] = {}
        self.zombies: list[Running[P]] = []
        self.is_stormy = True
        self.count = count
        self._kind = kind
        self._rates = rates
        self._clock = clock
        self._network = network
        self._trace = trace
        self._verdict = verdict
        self._rng = rng
        self._lives: list[Life] = []
        self._supervisors = Tasks(on_failure=self._on_failure)
        self._ended: dict[int, asyncio.Event] = {}

    @abstractmethod
    async def _build(self, id: int, life: Life) -> P:
        """Start the process: what it does in the background are tasks of its life."""

    def open(self) -> None:
        for id in range(1, self.count + 1):
            self._supervisors.spawn(self._supervise(id), name=f"supervisor-{self._kind}{id}")

    def set_aside(self, id: int) -> Running[P]:
        """Let the supervisor believe that this process is gone."""
        running = self.running.pop(id)
        self.zombies.append(running)
        self._ended[id].set()
        return running

    def calm_down(self) -> None:
        """The storm is over: no more faults, whoever is frozen goes on."""
        self.is_stormy = False
        for life in self._lives:
            for weather in life.weathers.values():
                weather.rates, weather.cut_off = CALM, False
            if life.is_frozen:
                life.thaw(was_suspended=False)

    def end_zombies(self) -> None:
        for running in self.zombies:
            running.life.kill("it was a zombie")
        self.zombies.clear()

    def all_run(self) -> bool:
        return len(self.running) == self.count

    async def close(self) -> None:
        await self._supervisors.close()
        for life in self._lives:
            life.kill("the end")
            await life.tasks.close()

    def new_life(self, name: str) -> Life:
        """A life that nobody supervises: it ends with the others."""
        seed = self._rng.getrandbits(64)
        life = Life(
            name,
            clock=self._clock,
            skew_ms=self._rng.randint(-SKEW_MS_MAX, SKEW_MS_MAX),
            weathers={
                room: Weather(random.Random(f"{seed} {room}"), rates if self.is_stormy else CALM)
                for room, rates in self._rates.items()
            },
            network=self._network,
            trace=self._trace,
            on_failure=self._on_failure,
        )
        self._lives.append(life)
        return life

    async def _supervise(self, id: int) -> None:
        while True:
            ended = self._ended[id] = asyncio.Event()
            life = self.new_life(f"{self._kind}{id}.{len(self._lives) + 1}")
            life.on_death.append(ended.set)
            process = await self._start(id, life)
            if process is not None:
                self.running[id] = Running(id=id, life=life, process=process)
                await ended.wait()
                if (running := self.running.get(id)) is not None and running.life is life:
                    del self.running[id]
            else:
                life.kill("it could not start")
            await self._clock.sleep(START_PAUSE_SECONDS + self._rng.random() * (2.0 if self.is_stormy else 0.0))

    async def _start(self, id: int, life: Life) -> P | None:
        """The process, serving; None when it died or failed on the way."""
        starting = life.tasks.spawn(self._build(id, life), name="start")
        await asyncio.gather(starting, return_exceptions=True)
        if starting.cancelled() or life.is_dead or starting.exception() is not None:
            return None
        self._trace.note("started", life.name)
        return starting.result()

    def _on_failure(self, task: str, error: BaseException) -> None:
        """Errors of ours end in an answer or a retry; anything else in the background is a bug."""
        if not isinstance(error, LakestreamError):
            self._verdict.breaks("background work does not fail", task, repr(error))
