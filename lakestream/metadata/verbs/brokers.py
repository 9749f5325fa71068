"""The verbs of brokers: an id held under a lease, each holder with a higher incarnation than the one before."""

from lakestream.metadata.rules.fencing import fenced
from lakestream.metadata.verbs.running import Verbs, reads, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, maybe_row, one_row
from lakestream.model.broker import LEASE_MS_MAX, BrokerId, BrokerLease, BrokerSpec, LiveBroker


class BrokerVerbs(Verbs):
    @writes
    def register_broker(self, spec: BrokerSpec, ttl_ms: int) -> Steps[BrokerLease]:
        """Waits for commits of the previous incarnation: they hold a shared lock on its row until they are done."""
        (incarnation,) = yield from one_row(
            "INSERT INTO broker VALUES (:id, 1, :host, :port, :rack, :http, now_ms() + :ttl_ms)"
            " ON CONFLICT (id) DO UPDATE SET incarnation = broker.incarnation + 1, host = excluded.host,"
            " port = excluded.port, rack = excluded.rack, http = excluded.http,"
            " lease_until_ms = excluded.lease_until_ms RETURNING incarnation",
            id=spec.id,
            host=spec.host,
            port=spec.port,
            rack=spec.rack,
            http=spec.http,
            ttl_ms=ttl_ms,
        )
        return BrokerLease(broker_id=spec.id, incarnation=incarnation, ttl_ms=ttl_ms)

    @writes
    def renew_broker(self, lease: BrokerLease) -> Steps[None]:
        renewed = yield from changed(
            "UPDATE broker SET lease_until_ms = now_ms() + :ttl_ms"
            " WHERE id = :id AND incarnation = :incarnation AND lease_until_ms > now_ms()",
            ttl_ms=lease.ttl_ms,
            id=lease.broker_id,
            incarnation=lease.incarnation,
        )
        if renewed == 0:
            raise fenced(lease.broker_id, lease.incarnation)

    @writes
    def leave_broker(self, lease: BrokerLease) -> Steps[None]:
        yield from changed(
            "UPDATE broker SET lease_until_ms = 0 WHERE id = :id AND incarnation = :incarnation",
            id=lease.broker_id,
            incarnation=lease.incarnation,
        )

    @reads
    def live_brokers(self) -> Steps[tuple[LiveBroker, ...]]:
        rows = yield from all_rows(
            "SELECT id, host, port, rack, http, incarnation FROM broker"
            " WHERE lease_until_ms > now_ms() AND lease_until_ms <= now_ms() + :lease_ms_max ORDER BY id",
            lease_ms_max=LEASE_MS_MAX,
        )
        return tuple(
            LiveBroker(id=id, host=host, port=port, rack=rack, http=http, incarnation=incarnation)
            for id, host, port, rack, http, incarnation in rows
        )


def check_lease(broker_id: BrokerId, incarnation: int) -> Steps[None]:
    """Raises BrokerFenced unless this incarnation holds the id now. The lock is shared: a new holder waits."""
    held = yield from maybe_row(
        "SELECT 1 FROM broker WHERE id = :id AND incarnation = :incarnation AND lease_until_ms > now_ms() FOR SHARE",
        id=broker_id,
        incarnation=incarnation,
    )
    if held is None:
        raise fenced(broker_id, incarnation)
