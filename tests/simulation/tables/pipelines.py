"""Pipeline processes: the real rounds under the real lease; only Spark is missing, whose workers are played."""

import random
from dataclasses import dataclass
from typing import Any

from lakestream.table.building import build_pipeline
from lakestream.table.lease import LeaseKeeper
from lakestream.table.pipeline import Pipeline
from lakestream.table.serving import run_rounds
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from tests.simulation.clocks import WorldClock
from tests.simulation.life import Life
from tests.simulation.processes import Processes
from tests.simulation.scenario import Tabling
from tests.simulation.stores import ReachedMetadata, ReachedObjects
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict
from tests.simulation.witness import Witness

from .workers import Workers


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineProcess:
    pipeline: Pipeline
    lease: LeaseKeeper
    life: Life

    async def drain(self) -> None:
        """As on SIGTERM: the round ends where it is, the lease is given back."""
        await self.life.tasks.close()
        await self.lease.leave()


class WorkerLives(Processes[None]):
    """Only for their weather, and their end: nobody supervises workers but their drivers."""

    async def _build(self, id: int, life: Life) -> None:
        return None


class Pipelines(Processes[PipelineProcess]):
    def __init__(
        self,
        tabling: Tabling,
        *,
        store: Any,
        objects: MemoryObjects,
        witness: Witness,
        clock: WorldClock,
        network: Tasks,
        trace: Trace,
        verdict: Verdict,
        rng: random.Random,
    ) -> None:
        rates = {"store": tabling.store, "objects": tabling.objects}
        around: dict[str, Any] = {
            "clock": clock,
            "network": network,
            "trace": trace,
            "verdict": verdict,
            "rng": rng,
        }
        super().__init__("p", tabling.pipelines, rates, **around)
        self._tabling = tabling
        self._store = store
        self._objects = objects
        self._witness = witness
        self._workers = WorkerLives("w", 0, {"objects": tabling.workers}, **around)

    def calm_down(self) -> None:
        super().calm_down()
        self._workers.calm_down()

    async def close(self) -> None:
        await super().close()
        await self._workers.close()

    async def _build(self, id: int, life: Life) -> PipelineProcess:
        store: Any = ReachedMetadata(self._store, life, self._witness)
        objects = ReachedObjects(self._objects, life, self._witness)
        lease = LeaseKeeper(store, holder=life.name, clock=life.clock, ttl_ms=self._tabling.lease_ms)
        pipeline = build_pipeline(
            store=store,
            objects=objects,
            objects_options={},
            rewriter=Workers(life, self._workers.new_life, self._reach, self._network),
            limits=self._tabling.plan,
            merge_limits=self._tabling.merging,
            clock=life.clock,
            ids=Ids(life.clock, SeededChance(self._rng.getrandbits(64))),
        )
        life.tasks.spawn(lease.keep(), name="compaction-lease")
        life.tasks.spawn(self._rounds(pipeline, lease, life), name="rounds")
        return PipelineProcess(pipeline=pipeline, lease=lease, life=life)

    async def _rounds(self, pipeline: Pipeline, lease: LeaseKeeper, life: Life) -> None:
        """A pipeline whose rounds end, for an engine that failed too often, ends as well."""
        try:
            await run_rounds(pipeline, lease, life.clock)
        except Exception as error:
            self._on_failure(life.name, error)
            life.kill(f"its rounds ended: {error!r}")

    def _reach(self, worker: Life) -> ReachedObjects:
        return ReachedObjects(self._objects, worker, self._witness)
