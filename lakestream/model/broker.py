"""A broker: where clients reach it, and the lease under which it may write."""

from dataclasses import dataclass

BrokerId = int


LEASE_MS_MAX = 300_000
"""The longest time that a lease is granted for at once. A lease with a longer rest was granted by a clock that was
ahead, and counts as expired: its holder may be long dead.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSpec:
    """A broker's description of itself when it registers."""

    id: BrokerId
    host: str
    port: int
    rack: str | None
    http: str
    """Its own HTTP address (host:port) for health and metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLease:
    """The store grants it. Every commit carries the incarnation; a newer incarnation fences it."""

    broker_id: BrokerId
    incarnation: int
    ttl_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveBroker:
    """A broker whose lease has not run out, by the store's clock."""

    id: BrokerId
    host: str
    port: int
    rack: str | None
    http: str
    incarnation: int
