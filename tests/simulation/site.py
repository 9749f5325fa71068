"""The site: the broker processes, and the way to them."""

import random
from typing import Any

from lakestream.broker.broker import Broker, build_broker
from lakestream.model.broker import BrokerSpec
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads

from .clocks import WorldClock
from .life import Life
from .metrics import CountingMetrics
from .network import Connection
from .processes import Processes, Running
from .scenario import Scenario
from .stores import ReachedMetadata, ReachedObjects
from .trace import Trace
from .verdict import Verdict
from .witness import Watching


class Site(Processes[Broker]):
    def __init__(
        self,
        *,
        scenario: Scenario,
        store: Any,
        objects: MemoryObjects,
        clock: WorldClock,
        witness: Watching,
        network: Tasks,
        trace: Trace,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        rates = {"store": scenario.store, "objects": scenario.objects}
        super().__init__(
            "b", scenario.brokers, rates, clock=clock, network=network, trace=trace, verdict=verdict, rng=rng
        )
        self._scenario = scenario
        self._store = store
        self._objects = objects
        self._witness = witness

    def connect(self, rng: random.Random) -> Connection | None:
        """A connection to a broker that is said to run; None when there is none."""
        if not self.running:
            return None
        return self.connect_to(rng.choice([self.running[id] for id in sorted(self.running)]), rng)

    def connect_to(self, running: Running[Broker], rng: random.Random) -> Connection:
        scenario = self._scenario
        loss = scenario.connection_loss if self.is_stormy else 0.0
        return Connection(running.life, running.process, rng, delay_seconds_max=scenario.delay_seconds_max, loss=loss)

    async def _build(self, id: int, life: Life) -> Broker:
        broker = await build_broker(
            BrokerSpec(id=id, host="127.0.0.1", port=9000 + id, rack=None, http=""),
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
