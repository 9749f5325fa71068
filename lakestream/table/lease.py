"""The compaction lease of a pipeline: claimed, renewed in the background, given back at the end.

The lease counts on the monotonic clock from before the request, so this side never believes in it for longer than the
store does. A waiting pipeline asks again and again: of two pipelines one works and the other stands by.
"""

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.job import CompactionLease
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

RENEWALS_PER_TTL = 3
STANDBY_SECONDS_MAX = 1.0
"""The pause between two attempts of a standby. The rest of a dead holder's lease is wait enough."""


class LeaseKeeper:
    def __init__(self, store: MetadataStore, *, holder: str, clock: Clock, ttl_ms: int) -> None:
        self._store = store
        self._holder = holder
        self._clock = clock
        self._ttl_ms = ttl_ms
        self._lease: CompactionLease | None = None
        self._held_until = 0.0

    def held(self) -> CompactionLease | None:
        """The lease, as long as we may believe in it."""
        return self._lease if self._clock.monotonic() < self._held_until else None

    async def keep(self) -> None:
        """Claim and renew the lease for ever."""
        while True:
            try:
                await self.claim()
            except LakestreamError as error:
                log.warning("the right to compact could not be renewed; trying again", error=str(error))
            await self._clock.sleep(self._pause_seconds())

    async def claim(self) -> CompactionLease | None:
        asked_at = self._clock.monotonic()
        self._lease = await self._store.jobs.claim_compaction(self._holder, self._ttl_ms)
        if self._lease is not None:
            self._held_until = asked_at + self._ttl_ms / 1000
        return self._lease

    def _pause_seconds(self) -> float:
        renewal = self._ttl_ms / 1000 / RENEWALS_PER_TTL
        return min(renewal, STANDBY_SECONDS_MAX) if self._lease is None else renewal

    async def leave(self) -> None:
        """Let another pipeline begin at once. If that fails, it can begin when the lease runs out."""
        lease, self._lease = self._lease, None
        if lease is None:
            return
        try:
            await self._store.jobs.leave_compaction(lease)
        except LakestreamError as error:
            log.warning("the right to compact could not be given back; it will run out", error=str(error))
