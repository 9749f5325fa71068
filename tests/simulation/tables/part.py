"""The tables' part of a run: pipelines, a stranger, their chaos, and the examiner who sees it all."""

import random
from collections.abc import Callable
from typing import Any

from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from tests.simulation.chaos import Chaos
from tests.simulation.clocks import WorldClock
from tests.simulation.ledger import Ledger
from tests.simulation.scenario import Tabling
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict
from tests.simulation.witness import Witness

from .examiner import Examiner
from .lake import Lake
from .pipelines import Pipelines, WorkerLives
from .stranger import Stranger


class TablesPart:
    def __init__(
        self,
        tabling: Tabling,
        *,
        store: Any,
        objects: MemoryObjects,
        witness: Witness,
        ledger: Ledger,
        clock: WorldClock,
        network: Tasks,
        trace: Trace,
        verdict: Verdict,
        rng: Callable[[str], random.Random],
    ) -> None:
        self._tabling = tabling
        self._trace = trace
        self._rng = rng
        around: dict[str, Any] = {"clock": clock, "trace": trace, "verdict": verdict}
        stores: dict[str, Any] = {"store": store, "objects": objects, "witness": witness}
        self._pipelines = Pipelines(tabling, **stores, **around, network=network, rng=rng("pipelines"))
        self._gateways = WorkerLives(
            "g", 0, {"store": tabling.store, "objects": tabling.objects}, **around, network=network, rng=rng("gateways")
        )
        lake = Lake(store, objects)
        self._stranger = Stranger(lake, self._gateways, **stores, **around, rng=rng("stranger"))
        self._examiner = Examiner(store, lake, stranger=self._stranger, ledger=ledger, **around)
        witness.tables = self._examiner
        self._pipelines.open()

    def start(self, storm: Tasks) -> None:
        lease = self._tabling.lease_ms / 1000
        Chaos(
            self._pipelines,
            self._tabling.pace,
            freezes=[0.5 * lease, 1.5 * lease, 4 * lease],
            drain=lambda process: process.drain(),
            tasks=storm,
            trace=self._trace,
            rng=self._rng("pipelines' chaos"),
        ).start()
        if self._tabling.stranger_seconds is not None:
            storm.spawn(self._stranger.run(self._tabling.stranger_seconds), name="stranger")

    def calm_down(self) -> None:
        self._pipelines.calm_down()
        self._gateways.calm_down()

    def end_zombies(self) -> None:
        self._pipelines.end_zombies()

    async def look(self) -> None:
        await self._examiner.look()

    async def everything_is_tabled(self) -> bool:
        return await self._examiner.everything_is_tabled()

    async def judge(self) -> None:
        await self._examiner.judge_main()

    async def no_garbage_is_left(self) -> None:
        """When all that was dropped was dropped long ago."""
        for id in sorted(self._pipelines.running):
            await self._pipelines.running[id].process.pipeline.sweep()
        await self._examiner.no_garbage_is_left()

    async def close(self) -> None:
        await self._pipelines.close()
        await self._gateways.close()
