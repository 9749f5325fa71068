"""Quotas: the current ones in memory, and what each user and client has left of them at this broker.

As in Kafka, every broker counts for itself: a client that uses three brokers may have three times its quota. A change
by this broker counts before its request is answered, and changes by others within a second.
"""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import structlog

from lakestream.access.meter import Meter
from lakestream.access.quota_rules import QuotaRules
from lakestream.metadata.store import MetadataStore
from lakestream.model.caller import Caller
from lakestream.model.errors import LakestreamError
from lakestream.model.quota import Quota, QuotaChange, QuotaEntity, QuotaKind, check_change
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)
audit = structlog.get_logger("lakestream.audit")

FOLLOW_SECONDS = 0.1
"""Changes closer together than this share one read."""
ACCOUNTS_MAX = 50_000
"""Accounts that are kept. A client can make up any number of client ids, so beyond this all begin anew."""


class _Account(NamedTuple):
    kind: QuotaKind
    owner: QuotaEntity


class Quotas:
    def __init__(self, store: MetadataStore, clock: Clock, tasks: Tasks) -> None:
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._alarm = asyncio.Event()
        self._reading = asyncio.Lock()
        self._stored_version = -1
        self._quotas: tuple[Quota, ...] = ()
        self._rules = QuotaRules(())
        self._meters: dict[_Account, Meter] = {}

    # --- on the path of requests ---------------------------------------------------------------

    @property
    def exist(self) -> bool:
        return bool(self._rules)

    def spend(self, kind: QuotaKind, amount: float, caller: Caller, client_id: str | None) -> float:
        """How many seconds the client shall be silent."""
        user, client = caller.principal.name, client_id or ""
        applied = self._rules.applied(kind, user, client)
        if applied is None:
            return 0.0
        now = self._clock.monotonic()
        account = _Account(kind, applied.account)
        meter = self._meters.get(account)
        if meter is None:
            if len(self._meters) >= ACCOUNTS_MAX:
                self._meters.clear()
            meter = self._meters[account] = Meter(applied.per_second, now)
        return meter.spend(amount, now)

    # --- what is known, and changes ------------------------------------------------------------

    @property
    def all(self) -> Sequence[Quota]:
        return self._quotas

    async def change(self, changes: Sequence[QuotaChange], *, by: Caller) -> None:
        """All of them, or none. Raises InvalidQuota, TooManyQuotas."""
        for change in changes:
            check_change(change)
        await self._store.access.change_quotas(changes)
        await self.refresh()
        for change in changes:
            audit.info("quota changed", principal=str(by.principal), host=by.host, quota=str(change))

    # --- following the store -------------------------------------------------------------------

    async def refresh(self) -> None:
        """Read everything again if the version has changed."""
        async with self._reading:
            version = await self._store.access.version()
            if version == self._stored_version:
                return
            quotas = await self._store.access.quotas()
            self._stored_version = version  # read first: what changed in between is read again
            if quotas == self._quotas:
                return
            self._quotas = quotas
            self._rules = QuotaRules(quotas)
            self._meters.clear()

    async def start(self) -> None:
        """Read the quotas, and keep up with the changes of other processes."""
        await self.refresh()
        self._store.on_change(self._alarm.set)
        self._tasks.spawn(self._follow(), name="quotas")

    async def _follow(self) -> None:
        while True:
            await self._alarm.wait()
            await self._clock.sleep(FOLLOW_SECONDS)
            self._alarm.clear()
            try:
                await self.refresh()
            except LakestreamError as error:
                log.warning("quotas could not be read; trying again at the next change", error=str(error))
