"""Expiry of committed offsets: one broker at a time drops them, by the store's clock and rules."""

from typing import Protocol

import structlog

from lakestream.broker.groups.limits import GroupLimits
from lakestream.metadata.group_store import GroupStore
from lakestream.model.errors import LakestreamError
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

DUTY = "offset-expiry"
OFFSETS_PER_CALL = 10_000
"""Limits how long one transaction keeps others waiting."""


class Chores(Protocol):
    async def take_duty(self, name: str, holder: str, ttl_ms: int) -> bool: ...


class OffsetExpiry:
    def __init__(
        self, *, store: GroupStore, chores: Chores, holder: str, limits: GroupLimits, clock: Clock, tasks: Tasks
    ) -> None:
        self._store = store
        self._chores = chores
        self._holder = holder
        self._limits = limits
        self._clock = clock
        self._tasks = tasks

    def start(self) -> None:
        self._tasks.spawn(self._expire_for_ever(), name=DUTY)

    async def expire(self) -> int:
        """Run one round if this broker has the duty. Returns the number of dropped offsets."""
        if not await self._chores.take_duty(DUTY, self._holder, 2 * self._limits.offsets_check_interval_ms):
            return 0
        dropped = batch = await self._store.expire_offsets(self._limits.offsets_retention_ms, OFFSETS_PER_CALL)
        while batch == OFFSETS_PER_CALL:
            batch = await self._store.expire_offsets(self._limits.offsets_retention_ms, OFFSETS_PER_CALL)
            dropped += batch
        return dropped

    async def _expire_for_ever(self) -> None:
        while True:
            await self._clock.sleep(self._limits.offsets_check_interval_ms / 1000)
            try:
                dropped = await self.expire()
            except LakestreamError as error:
                log.warning("offsets could not be expired; trying again later", error=str(error))
            else:
                if dropped:
                    log.info("offsets expired", offsets=dropped)
