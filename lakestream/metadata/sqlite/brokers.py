"""Brokers: an id held under a lease, each holder with a higher incarnation than the one before."""

import sqlite3

from lakestream.metadata.rules.fencing import fenced
from lakestream.model.broker import BrokerId, BrokerLease, BrokerSpec, LiveBroker
from lakestream.model.lease import LEASE_MS_MAX


def register_broker(connection: sqlite3.Connection, spec: BrokerSpec, ttl_ms: int, now_ms: int) -> BrokerLease:
    connection.execute(
        "INSERT INTO broker VALUES (?, 1, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET incarnation = incarnation + 1,"
        " host = excluded.host, port = excluded.port, rack = excluded.rack, http = excluded.http,"
        " lease_until_ms = excluded.lease_until_ms",
        (spec.id, spec.host, spec.port, spec.rack, spec.http, now_ms + ttl_ms),
    )
    (incarnation,) = connection.execute("SELECT incarnation FROM broker WHERE id = ?", (spec.id,)).fetchone()
    return BrokerLease(broker_id=spec.id, incarnation=incarnation, ttl_ms=ttl_ms)


def renew_broker(connection: sqlite3.Connection, lease: BrokerLease, now_ms: int) -> None:
    renewed = connection.execute(
        "UPDATE broker SET lease_until_ms = ? WHERE id = ? AND incarnation = ? AND lease_until_ms > ?",
        (now_ms + lease.ttl_ms, lease.broker_id, lease.incarnation, now_ms),
    )
    if renewed.rowcount == 0:
        raise fenced(lease.broker_id, lease.incarnation)


def leave_broker(connection: sqlite3.Connection, lease: BrokerLease) -> None:
    connection.execute(
        "UPDATE broker SET lease_until_ms = 0 WHERE id = ? AND incarnation = ?", (lease.broker_id, lease.incarnation)
    )


def live_brokers(connection: sqlite3.Connection, now_ms: int) -> tuple[LiveBroker, ...]:
    rows = connection.execute(
        "SELECT id, host, port, rack, http, incarnation FROM broker WHERE lease_until_ms > ? AND lease_until_ms <= ?"
        " ORDER BY id",
        (now_ms, now_ms + LEASE_MS_MAX),
    )
    return tuple(
        LiveBroker(id=id, host=host, port=port, rack=rack, http=http, incarnation=incarnation)
        for id, host, port, rack, http, incarnation in rows
    )


def check_lease(connection: sqlite3.Connection, broker_id: BrokerId, incarnation: int, now_ms: int) -> None:
    """Raises BrokerFenced unless this incarnation holds the id now."""
    held = connection.execute(
        "SELECT 1 FROM broker WHERE id = ? AND incarnation = ? AND lease_until_ms > ?", (broker_id, incarnation, now_ms)
    ).fetchone()
    if held is None:
        raise fenced(broker_id, incarnation)
