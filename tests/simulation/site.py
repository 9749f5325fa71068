"""The site: broker processes under supervision. One that dies is started again, under the same id, as a new life.

A life can be set aside as a zombie: it is frozen or forgotten by its supervisor, but not dead, and a new
life with the same broker id is started while it may wake at any time.
"""

import asyncio
import random
from dataclasses import dataclass
from typing import Any

from lakestream.broker.broker import Broker, build_broker
from lakestream.model.broker import BrokerSpec
from lakestream.model.errors import LakestreamError
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

from .clocks import WorldClock
from .life import Life
from .metrics import CountingMetrics
from .network import Connection
from .scenario import Scenario
from .stores import ReachedMetadata, ReachedObjects
from .trace import Trace
from .verdict import Verdict
from .weather import CALM, Weather
from .witness import Witness

START_PAUSE_SECONDS = 0.5
SKEW_MS_MAX = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    life: Life
    broker: Broker


class Site:
    def __init__(
        self,
        *,
        scenario: Scenario,
        store: Any,
        objects: MemoryObjects,
        clock: WorldClock,
        witness: Witness,
        network: Tasks,
        trace: Trace,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        self.running: dict[int, Running] = {}
        self.zombies: list[Running] = []
        self.is_stormy = True
        self._scenario = scenario
        self._store = store
        self._objects = objects
        self._clock = clock
        self._witness = witness
        self._network = network
        self._trace = trace
        self._verdict = verdict
        self._rng = rng
        self._lives: list[Life] = []
        self._supervisors = Tasks(on_failure=self._on_failure)
        self._ended: dict[int, asyncio.Event] = {}

    def open(self) -> None:
        for broker_id in range(1, self._scenario.brokers + 1):
            self._supervisors.spawn(self._supervise(broker_id), name=f"supervisor-{broker_id}")

    def connect(self, rng: random.Random) -> Connection | None:
        """A connection to a broker that is said to run; None when there is none."""
        if not self.running:
            return None
        running = rng.choice([self.running[broker_id] for broker_id in sorted(self.running)])
        scenario = self._scenario
        loss = scenario.connection_loss if self.is_stormy else 0.0
        return Connection(running.life, running.broker, rng, delay_seconds_max=scenario.delay_seconds_max, loss=loss)

    def set_aside(self, broker_id: int) -> Running:
        """Let the supervisor believe that this process is gone."""
        running = self.running.pop(broker_id)
        self.zombies.append(running)
        self._ended[broker_id].set()
        return running

    def calm_down(self) -> None:
        """The storm is over: no more faults, zombies end, whoever is frozen goes on."""
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

    async def close(self) -> None:
        await self._supervisors.close()
        for life in self._lives:
            life.kill("the end")
            await life.tasks.close()

    async def _supervise(self, broker_id: int) -> None:
        while True:
            ended = self._ended[broker_id] = asyncio.Event()
            life = self._new_life(broker_id, ended)
            broker = await self._start(broker_id, life)
            if broker is not None:
                self.running[broker_id] = Running(life=life, broker=broker)
                await ended.wait()
                if (running := self.running.get(broker_id)) is not None and running.life is life:
                    del self.running[broker_id]
            else:
                life.kill("it could not start")
            await self._clock.sleep(START_PAUSE_SECONDS + self._rng.random() * (2.0 if self.is_stormy else 0.0))

    def _new_life(self, broker_id: int, ended: asyncio.Event) -> Life:
        name = f"b{broker_id}.{len(self._lives) + 1}"
        seed = self._rng.getrandbits(64)
        life = Life(
            name,
            clock=self._clock,
            skew_ms=self._rng.randint(-SKEW_MS_MAX, SKEW_MS_MAX),
            weathers={
                "store": Weather(random.Random(f"{seed} store"), self._scenario.store if self.is_stormy else CALM),
                "objects": Weather(
                    random.Random(f"{seed} objects"), self._scenario.objects if self.is_stormy else CALM
                ),
            },
            network=self._network,
            trace=self._trace,
            on_failure=self._on_failure,
        )
        life.on_death.append(ended.set)
        self._lives.append(life)
        return life

    async def _start(self, broker_id: int, life: Life) -> Broker | None:
        """The broker, serving; None when it died or failed on the way."""
        starting = life.tasks.spawn(self._build(broker_id, life), name="start")
        await asyncio.gather(starting, return_exceptions=True)
        if starting.cancelled() or life.is_dead or starting.exception() is not None:
            return None
        self._trace.note("started", life.name)
        return starting.result()

    async def _build(self, broker_id: int, life: Life) -> Broker:
        broker = await build_broker(
            BrokerSpec(id=broker_id, host="127.0.0.1", port=9000 + broker_id, rack=None, http=""),
            self._scenario.limits,
            store=ReachedMetadata(self._store, life, self._witness),
            objects=ReachedObjects(self._objects, life, self._witness),
            clock=life.clock,
            ids=Ids(life.clock, SeededChance(self._rng.getrandbits(64))),
            threads=InlineThreads(),
            tasks=life.tasks,
            metrics=CountingMetrics(self._trace),
        )
        await broker.start()
        return broker

    def _on_failure(self, task: str, error: BaseException) -> None:
        """Errors of ours end in an answer or a retry; anything else in the background is a bug."""
        if not isinstance(error, LakestreamError):
            self._verdict.breaks("background work does not fail", task, repr(error))
