"""A broker: where clients reach it, and the lease under which it may write."""

from dataclasses import dataclass

BrokerId = int


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSpec:
    """What a broker says of itself when it registers."""

    id: BrokerId
    host: str
    port: int
    rack: str | None
    http: str
    """Its own http address (host:port) for health and metrics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerLease:
    """Granted by the store. Every commit carries the incarnation; a newer one fences it."""

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
