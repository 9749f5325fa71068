"""KafkaServer: accept connections, bound their number and their idle time, and drain them at the end.

    server = KafkaServer(registry=registry, broker=broker, metrics=metrics)
    await server.start("0.0.0.0", 9092)
    await server.drain(timeout_ms=30_000)      # stop accepting, answer running requests, close

session.py runs one connection; limits.py has the limits.
"""

import asyncio
import socket
import ssl
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from structlog.typing import FilteringBoundLogger

from lakestream.broker.broker import Broker
from lakestream.model.caller import ANONYMOUS, Principal
from lakestream.protocol.kafka.api import ApiTable
from lakestream.protocol.kafka.inflight import InflightBytes
from lakestream.protocol.kafka.limits import ServerLimits
from lakestream.protocol.kafka.routes import Routes
from lakestream.protocol.kafka.service import PrincipalOf, ServerMetrics, Service
from lakestream.protocol.kafka.session import Session
from lakestream.protocol.rate_limited_log import RateLimitedLog

CHECKS_PER_LIMIT = 4
"""How many times within the shorter of the two time limits the server checks its connections."""

HANDSHAKE_SECONDS_MAX = 10.0
"""Of TLS. A connection that is not through by then is closed."""


def anonymous(certificate: Mapping[str, Any] | None) -> Principal:
    return ANONYMOUS


class KafkaServer:
    def __init__(
        self,
        *,
        registry: ApiTable,
        broker: Broker,
        metrics: ServerMetrics,
        limits: ServerLimits | None = None,
        listener: str = "PLAINTEXT",
        tls: ssl.SSLContext | None = None,
        mechanisms: Sequence[str] = (),
        principal_of: PrincipalOf = anonymous,
        inflight: InflightBytes | None = None,
        log: FilteringBoundLogger | None = None,
    ) -> None:
        """`inflight` may be shared by several listeners of one process. With `mechanisms`, callers must log in by one
        of these SASL mechanisms."""
        self._registry = registry
        self._broker = broker
        self._metrics = metrics
        self._limits = limits or ServerLimits()
        self._listener = listener
        self._tls = tls
        self._mechanisms = mechanisms
        self._principal_of = principal_of
        self._inflight = inflight or InflightBytes(self._limits.inflight_bytes_max)
        self._log = log or structlog.get_logger("lakestream.kafka")
        self._client_log: RateLimitedLog
        self._sessions: set[Session] = set()
        self._by_host: Counter[str] = Counter()
        self._none_left = asyncio.Event()
        self._none_left.set()
        self._server: asyncio.Server | None = None
        self._check: asyncio.TimerHandle | None = None
        self._pace_check: asyncio.TimerHandle | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen. Port 0 takes a free one; see `port`."""
        loop = asyncio.get_running_loop()
        self._client_log = RateLimitedLog(self._log, now=loop.time)
        service = self._service(loop)
        self._server = await loop.create_server(
            lambda: Session(service, opened=self._opened, closed=self._closed),
            host,
            port,
            backlog=self._limits.backlog,
            reuse_address=True,
            start_serving=False,
            ssl=self._tls,
            ssl_handshake_timeout=HANDSHAKE_SECONDS_MAX if self._tls is not None else None,
        )
        if _is_granted(self._limits.socket_receive_bytes):
            for listening in self._server.sockets:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self._limits.socket_receive_bytes)
        await self._server.start_serving()
        self._check_later(loop)
        self._check_pace_later(loop)

    @property
    def port(self) -> int:
        assert self._server is not None, "start() comes first"
        return int(self._server.sockets[0].getsockname()[1])

    @property
    def connections(self) -> int:
        return len(self._sessions)

    @property
    def inflight_bytes(self) -> int:
        """Request bytes that are held, by all listeners that share the bound."""
        return self._inflight.held

    async def drain(self, timeout_ms: int) -> None:
        """Stop accepting, answer every request taken in, and close. Connections that take longer are aborted."""
        assert self._server is not None, "start() comes first"
        self._server.close()
        for session in list(self._sessions):
            session.drain()
        try:
            await asyncio.wait_for(self._none_left.wait(), timeout_ms / 1000)
        except TimeoutError:
            self._log.warning("aborting connections that did not finish in time", connections=len(self._sessions))
            for session in list(self._sessions):
                session.abort()
            await self._none_left.wait()
        for timer in (self._check, self._pace_check):
            if timer is not None:
                timer.cancel()

    def _service(self, loop: asyncio.AbstractEventLoop) -> Service:
        return Service(
            registry=self._registry,
            apis={api.key: api for api in self._registry},
            routes=Routes(self._registry.served()),
            broker=self._broker,
            listener=self._listener,
            mechanisms=self._mechanisms,
            principal_of=self._principal_of,
            limits=self._limits,
            inflight=self._inflight,
            metrics=self._metrics,
            log=self._client_log,
            loop=loop,
            receive_buffer=memoryview(bytearray(self._limits.receive_buffer_bytes)),
        )

    def _opened(self, session: Session) -> str | None:
        """Why the connection is refused, or None: it is counted."""
        if refusal := self._refusal(session.host):
            self._metrics.connection_refused()
            return refusal
        self._sessions.add(session)
        self._by_host[session.host] += 1
        self._none_left.clear()
        self._metrics.connection_opened()
        return None

    def _refusal(self, host: str) -> str | None:
        if len(self._sessions) >= self._limits.connections_max:
            return "too many are open"
        if self._by_host[host] >= self._limits.connections_per_address_max:
            return "too many are open from this address"
        return None

    def _closed(self, session: Session) -> None:
        if session not in self._sessions:
            return  # it was refused
        self._sessions.remove(session)
        self._by_host[session.host] -= 1
        if not self._by_host[session.host]:
            del self._by_host[session.host]
        self._metrics.connection_closed()
        if not self._sessions:
            self._none_left.set()

    def _check_later(self, loop: asyncio.AbstractEventLoop) -> None:
        shorter_ms = min(self._limits.idle_ms_max, self._limits.stall_ms_max)
        self._check = loop.call_later(shorter_ms / CHECKS_PER_LIMIT / 1000, self._check_all, loop)

    def _check_all(self, loop: asyncio.AbstractEventLoop) -> None:
        for session in list(self._sessions):
            session.check(loop.time())
        self._client_log.tell_counts()
        self._check_later(loop)

    def _check_pace_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._pace_check = loop.call_later(self._limits.pace_check_ms / 1000, self._check_pace, loop)

    def _check_pace(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._inflight.waits_for_clients:
            for session in list(self._sessions):
                session.check_sending()
        unread = sum(session.unread_bytes for session in self._sessions)
        if self._inflight.waiting and unread * 2 > self._limits.inflight_bytes_max:
            for session in list(self._sessions):
                session.check_reading()
        self._check_pace_later(loop)


def _is_granted(receive_bytes: int) -> bool:
    """Whether the kernel would grant a socket this buffer size. Asking for more than it grants would fix the size below
    what the kernel's own tuning reaches, so this tries it on an unused socket."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        return probe.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= receive_bytes
