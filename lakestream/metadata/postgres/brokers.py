"""Brokers: an id held under a lease, each holder with a higher incarnation than the one before."""

from lakestream.metadata.postgres.asking import all_rows, one_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.fencing import fenced
from lakestream.model.broker import BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.lease import LEASE_MS_MAX


async def register_broker(connection: Connection, spec: BrokerSpec, ttl_ms: int) -> BrokerLease:
    """Waits for commits of the incarnation before: they hold its row, shared, until they are done."""
    (incarnation,) = await one_row(
        connection,
        "INSERT INTO broker VALUES (%s, 1, %s, %s, %s, %s, now_ms() + %s)"
        " ON CONFLICT (id) DO UPDATE SET incarnation = broker.incarnation + 1, host = excluded.host,"
        " port = excluded.port, rack = excluded.rack, http = excluded.http, lease_until_ms = excluded.lease_until_ms"
        " RETURNING incarnation",
        (spec.id, spec.host, spec.port, spec.rack, spec.http, ttl_ms),
    )
    return BrokerLease(broker_id=spec.id, incarnation=incarnation, ttl_ms=ttl_ms)


async def renew_broker(connection: Connection, lease: BrokerLease) -> None:
    renewed = await connection.execute(
        "UPDATE broker SET lease_until_ms = now_ms() + %s WHERE id = %s AND incarnation = %s"
        " AND lease_until_ms > now_ms()",
        (lease.ttl_ms, lease.broker_id, lease.incarnation),
    )
    if renewed.rowcount == 0:
        raise fenced(lease.broker_id, lease.incarnation)


async def leave_broker(connection: Connection, lease: BrokerLease) -> None:
    await connection.execute(
        "UPDATE broker SET lease_until_ms = 0 WHERE id = %s AND incarnation = %s", (lease.broker_id, lease.incarnation)
    )


async def live_brokers(connection: Connection) -> tuple[LiveBroker, ...]:
    rows = await all_rows(
        connection,
        "SELECT id, host, port, rack, http, incarnation FROM broker"
        " WHERE lease_until_ms > now_ms() AND lease_until_ms <= now_ms() + %s ORDER BY id",
        (LEASE_MS_MAX,),
    )
    return tuple(
        LiveBroker(id=id, host=host, port=port, rack=rack, http=http, incarnation=incarnation)
        for id, host, port, rack, http, incarnation in rows
    )
