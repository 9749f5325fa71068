"""Moving: each broker counts the inline bytes at rest now and then, and one of them moves them into objects when due.

Every broker counts, because its own flushes go to objects while too many bytes are at rest. The duty only saves work:
two movers at once do no harm.
"""

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.inline import InlineAtRest
from lakestream.storage.wal.inline_budget import InlineBudget, InlineLimits
from lakestream.storage.wal.mover import Mover
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

COUNTS_PER_MOVE = 4
"""How often the bytes are counted in the time after which they are moved."""
DUTY = "move-inline"
DUTY_MOVES = 5
"""A broker that has the duty keeps it for so many times the age at which bytes are moved."""


class Moving:
    def __init__(
        self,
        *,
        store: MetadataStore,
        mover: Mover,
        budget: InlineBudget,
        limits: InlineLimits,
        holder: str,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._store = store
        self._mover = mover
        self._budget = budget
        self._limits = limits
        self._holder = holder
        self._clock = clock
        self._tasks = tasks
        self._failing = False

    def start(self) -> None:
        self._tasks.spawn(self._repeat(), name="moving")

    async def look(self) -> None:
        """Count the bytes at rest, and move them if they are due."""
        at_rest = await self._store.inline.at_rest()
        self._budget.counted_at_rest(at_rest.bytes)
        if at_rest.oldest_ms is None:
            return
        now_ms = await self._store.now_ms()
        if self._is_due(at_rest, at_rest.oldest_ms, now_ms) and await self._has_duty():
            await self._mover.move_until(now_ms)
            self._budget.counted_at_rest((await self._store.inline.at_rest()).bytes)

    def _is_due(self, at_rest: InlineAtRest, oldest_ms: int, now_ms: int) -> bool:
        """Bytes from the future are due too: the clock was set back."""
        age_ms = now_ms - oldest_ms
        return at_rest.bytes >= self._limits.move_bytes or not 0 <= age_ms < 1000 * self._limits.move_seconds

    async def _has_duty(self) -> bool:
        ttl_ms = int(1000 * DUTY_MOVES * self._limits.move_seconds)
        return await self._store.take_duty(DUTY, self._holder, ttl_ms=ttl_ms)

    async def _repeat(self) -> None:
        while True:
            await self._clock.sleep(self._limits.move_seconds / COUNTS_PER_MOVE)
            try:
                await self.look()
            except LakestreamError as error:
                if not self._failing:
                    log.warning("inline bytes cannot be moved into objects; it is tried again", error=str(error))
                self._failing = True
            else:
                if self._failing:
                    log.info("inline bytes are moved into objects again")
                self._failing = False
