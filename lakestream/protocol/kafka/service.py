"""Service: state that all sessions of one listener share, and the metrics they report."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from lakestream.broker.broker import Broker
from lakestream.model.caller import Principal
from lakestream.protocol.kafka.api import Api, ApiTable
from lakestream.protocol.kafka.inflight import InflightBytes
from lakestream.protocol.kafka.limits import ServerLimits
from lakestream.protocol.kafka.routes import Routes
from lakestream.protocol.rate_limited_log import RateLimitedLog

PrincipalOf: TypeAlias = Callable[[Mapping[str, Any] | None], Principal]
"""Names the caller by the certificate that it showed, as Python's ssl module gives it."""


class ServerMetrics(Protocol):
    """Called at each event."""

    def connection_opened(self) -> None: ...
    def connection_closed(self) -> None: ...
    def connection_refused(self) -> None: ...
    def request_received(self, api: str, frame_bytes: int) -> None: ...
    def request_failed(self, api: str, code: int) -> None: ...
    def client_throttled(self) -> None:
        """A connection must wait because its user or client id has used up a quota."""

    def responses_sent(self, response_bytes: int) -> None: ...
    def reading_paused(self, why: str) -> None:
        """`why`: "bytes" (the server holds too many) or "requests" (this connection has too many)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    registry: ApiTable
    apis: Mapping[int, Api]
    routes: Routes
    broker: Broker
    listener: str
    mechanisms: Sequence[str]
    """Of SASL. None: the listener asks nobody to log in."""
    principal_of: PrincipalOf
    limits: ServerLimits
    inflight: InflightBytes
    metrics: ServerMetrics
    log: RateLimitedLog
    loop: asyncio.AbstractEventLoop
    receive_buffer: memoryview
