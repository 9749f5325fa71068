"""Ends transactions that nobody ends, and forgets what nobody needs, by the store's clock.

Every broker looks, one at a time by a duty of the store. Losing the duty midway does no harm: the store aborts a
transaction once.
"""

from typing import Protocol

import structlog

from lakestream.broker.transactions.limits import TransactionLimits
from lakestream.broker.wakeups import Wakeups
from lakestream.metadata.transaction_store import TransactionStore
from lakestream.model.errors import LakestreamError
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

DUTY = "transactions"
DUTY_TERMS = 3
"""The duty is taken for this many checks: its holder may miss one or two."""


class DutyStore(Protocol):
    async def take_duty(self, name: str, holder: str, ttl_ms: int) -> bool: ...


class TransactionExpiry:
    def __init__(
        self,
        *,
        store: TransactionStore,
        duties: DutyStore,
        wakeups: Wakeups,
        holder: str,
        limits: TransactionLimits,
        clock: Clock,
        tasks: Tasks,
    ) -> None:
        self._store = store
        self._duties = duties
        self._wakeups = wakeups
        self._holder = holder
        self._limits = limits
        self._clock = clock
        self._tasks = tasks
        self._forgotten_at = clock.monotonic()

    def start(self) -> None:
        self._tasks.spawn(self._check_for_ever(), name="transaction-expiry")

    async def check(self) -> int:
        """One look, if this broker has the duty. Returns how many transactions were aborted."""
        term_ms = int(DUTY_TERMS * 1000 * self._limits.check_seconds)
        if not await self._duties.take_duty(DUTY, self._holder, term_ms):
            return 0
        aborted = 0
        while aborted < self._limits.aborts_per_check:
            partitions = await self._store.abort_timed_out()
            if partitions is None:
                break
            self._wakeups.wake(partitions)
            aborted += 1
        if self._clock.monotonic() - self._forgotten_at >= self._limits.forget_seconds:
            self._forgotten_at = self._clock.monotonic()
            await self._store.forget(self._limits.id_idle_ms, self._limits.forgotten_per_round)
        return aborted

    async def _check_for_ever(self) -> None:
        while True:
            await self._clock.sleep(self._limits.check_seconds)
            try:
                aborted = await self.check()
            except LakestreamError as error:
                log.warning("transactions that timed out could not be looked for; trying again", error=str(error))
            else:
                if aborted:
                    log.info("transactions timed out and were aborted", transactions=aborted)
