"""The cluster as one broker sees it: its own lease, and which other brokers are alive.

The store's clock decides about the lease. This broker counts on its own monotonic clock, from the moment before the
request, so it never believes in a lease for longer than the store does.
"""

import structlog

from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerId, BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.errors import BrokerFenced, LakestreamError
from lakestream.world.clock import Clock
from lakestream.world.tasks import Tasks

log = structlog.get_logger(__name__)

RENEWALS_PER_TTL = 4
"""Three renewals may fail before the lease runs out."""

LOOKS_PER_RENEWAL = 3
"""A look is a read, a renewal a write. A dead broker's work goes on when its lease has run out and the others have
looked.
"""


class Cluster:
    def __init__(
        self, *, spec: BrokerSpec, cluster_id: str, ttl_ms: int, store: MetadataStore, clock: Clock, tasks: Tasks
    ) -> None:
        self.spec = spec
        self.cluster_id = cluster_id
        self._ttl_ms = ttl_ms
        self._store = store
        self._clock = clock
        self._tasks = tasks
        self._lease = BrokerLease(broker_id=spec.id, incarnation=0, ttl_ms=ttl_ms)
        self._held_until = 0.0
        self._live: tuple[LiveBroker, ...] = self._with_this_one(())
        self._seen: dict[BrokerId, tuple[LiveBroker, float]] = {}
        """Every broker that was ever alive here, and the time when it last was."""

    async def join(self) -> None:
        await self._register()
        self._tasks.spawn(self._renew(), name="broker-lease")

    async def leave(self) -> None:
        """Tell the other brokers at once. If that fails, they find out when the lease runs out."""
        try:
            await self._store.leave_broker(self._lease)
        except LakestreamError as error:
            log.warning("could not leave; the lease will run out by itself", broker=self.spec.id, error=str(error))

    def lease(self) -> BrokerLease:
        """The newest lease that this broker was given. Only the store knows whether it still holds."""
        return self._lease

    def is_held(self) -> bool:
        return self._clock.monotonic() < self._held_until

    def live(self) -> tuple[LiveBroker, ...]:
        """The brokers that were alive at the last look, by id. This one is always among them."""
        return self._live

    def listed(self) -> tuple[LiveBroker, ...]:
        """The live brokers, and those that were alive less than a lease ago. Metadata lists the latter, but they get no
        work.

        A client drops everything it has for a broker that Metadata leaves out. A late renewal would do that to all
        clients."""
        since = self._clock.monotonic() - self._ttl_ms / 1000
        late = {broker.id: broker for broker, seen_at in self._seen.values() if seen_at > since}
        late.update((broker.id, broker) for broker in self.live())
        return tuple(late[id] for id in sorted(late))

    async def refresh_live(self) -> None:
        live = await self._store.live_brokers()
        self._live = self._with_this_one(live)
        now = self._clock.monotonic()
        self._seen.update((broker.id, (broker, now)) for broker in live)

    def _with_this_one(self, live: tuple[LiveBroker, ...]) -> tuple[LiveBroker, ...]:
        if any(broker.id == self.spec.id for broker in live):
            return live
        spec = self.spec
        own = LiveBroker(id=spec.id, host=spec.host, port=spec.port, rack=spec.rack, http=spec.http, incarnation=0)
        return tuple(sorted((*live, own), key=lambda broker: broker.id))

    def controller_id(self) -> BrokerId:
        """Any broker can administer topics. All brokers name the same one."""
        return self.live()[0].id

    async def _register(self) -> None:
        asked_at = self._clock.monotonic()
        self._lease = await self._store.register_broker(self.spec, self._ttl_ms)
        self._held_until = asked_at + self._ttl_ms / 1000
        await self.refresh_live()

    async def _renew(self) -> None:
        while True:
            for verb in [*[self.refresh_live] * (LOOKS_PER_RENEWAL - 1), self._renew_once]:
                await self._clock.sleep(self._ttl_ms / 1000 / RENEWALS_PER_TTL / LOOKS_PER_RENEWAL)
                try:
                    await verb()
                except LakestreamError as error:
                    log.warning("the lease could not be renewed; trying again", broker=self.spec.id, error=str(error))

    async def _renew_once(self) -> None:
        asked_at = self._clock.monotonic()
        try:
            await self._store.renew_broker(self._lease)
        except BrokerFenced:
            log.warning("the lease was lost; registering anew", broker=self.spec.id)
            await self._register()
            return
        self._held_until = asked_at + self._ttl_ms / 1000
        await self.refresh_live()
