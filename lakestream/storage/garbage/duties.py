"""Runs the chores of the log, on one broker at a time: retention, dead objects, unknown objects.

A duty is a lease by name in the metadata store. Losing it midway does no harm: every step is safe when two brokers do
it at once; the lease only saves work.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.storage.garbage.retention import apply_retention
from lakestream.storage.garbage.sweep import abandon_unknown_objects, delete_dead_segments, forget_inline_segments
from lakestream.world.clock import Clock
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

DELETE_SECONDS_MIN = 1.0
"""The least time between searches for dead objects: each search takes a lease and a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GarbageLimits:
    grace_ms: int = 3_600_000
    """How long a dead segment's object stays, for readers that still hold its place."""
    retention_seconds: float = 30.0
    delete_seconds: float = 30.0
    sweep_seconds: float = 900.0
    producer_idle_ms: int = 86_400_000
    producers_per_round: int = 10_000


def garbage_limits(grace_ms: int) -> GarbageLimits:
    """The limits for a grace. Dead objects are searched for at least as often as the grace is long, so that they do not
    wait for the search."""
    usual = GarbageLimits(grace_ms=grace_ms)
    return replace(usual, delete_seconds=min(usual.delete_seconds, max(DELETE_SECONDS_MIN, grace_ms / 1000)))


class GarbageMetrics(Protocol):
    def garbage(self, *, spans_dropped: int = 0, segments_deleted: int = 0, objects_abandoned: int = 0) -> None: ...


class Duties:
    def __init__(
        self,
        *,
        store: MetadataStore,
        objects: ObjectStore,
        limits: GarbageLimits,
        holder: str,
        clock: Clock,
        tasks: Tasks,
        metrics: GarbageMetrics,
    ) -> None:
        self._store = store
        self._objects = objects
        self._limits = limits
        self._holder = holder
        self._clock = clock
        self._tasks = tasks
        self._metrics = metrics

    def start(self) -> None:
        chores: list[tuple[str, float, Callable[[], Awaitable[None]]]] = [
            ("retention", self._limits.retention_seconds, self.retention),
            ("delete", self._limits.delete_seconds, self.delete_dead),
            ("sweep", self._limits.sweep_seconds, self.sweep),
        ]
        for name, seconds, chore in chores:
            self._tasks.spawn(self._repeat(name, seconds, chore), name=f"duty-{name}")

    async def retention(self) -> None:
        dropped = await apply_retention(self._store, (await self._store.topics()).topics)
        await self._store.forget_producers(self._limits.producer_idle_ms, self._limits.producers_per_round)
        self._metrics.garbage(spans_dropped=dropped)

    async def delete_dead(self) -> None:
        deleted = await delete_dead_segments(self._store, self._objects, self._limits.grace_ms)
        await forget_inline_segments(self._store)
        self._metrics.garbage(segments_deleted=deleted)

    async def sweep(self) -> None:
        abandoned = await abandon_unknown_objects(self._store, self._objects, self._limits.grace_ms)
        self._metrics.garbage(objects_abandoned=abandoned)

    async def _repeat(self, name: str, seconds: float, chore: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._clock.sleep(seconds)
            try:
                if await self._store.take_duty(name, self._holder, ttl_ms=int(3000 * seconds)):
                    await chore()
            except LakestreamError as error:
                log.warning("duty failed; it will be tried again", duty=name, error=str(error))
