"""An HTTP server inside a running event loop: started, stopped, bounded (connection.py), and otherwise left to uvicorn.

The process that owns the loop keeps its signal handlers; uvicorn would replace them.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import structlog
import uvicorn
from starlette.types import ASGIApp

from lakestream.protocol.rate_limited_log import RateLimitedLog
from lakestream.protocol.rest.access.callers import Gate, WithCaller, open_gate
from lakestream.protocol.rest.connection import HttpConnection, HttpLimits

_BACKLOG = 128
_DRAIN_SECONDS_MAX = 5
_LIMITS = HttpLimits()


class HttpServer:
    def __init__(
        self,
        app: ASGIApp,
        host: str,
        port: int,
        *,
        limits: HttpLimits = _LIMITS,
        gate: Gate = open_gate,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Binds at once, so that a port that is taken (OSError) or was chosen is known before anything runs."""
        self._socket = socket.create_server((host, port), backlog=_BACKLOG, family=_family(host))
        # Each connection inherits this option. asyncio sets it only for sockets that name their protocol, which this
        # one does not. uvicorn writes head and body separately: without the option, the body would wait 40 ms for the
        # client's delayed ACK.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._log = RateLimitedLog(structlog.get_logger("lakestream.http"), now=_loop_time)
        self._server = _WithoutSignals(
            uvicorn.Config(
                WithCaller(app, gate),
                http=partial(HttpConnection, log=self._log, limits=limits),  # type: ignore[arg-type]
                ws="none",
                log_config=None,
                access_log=False,
                lifespan="off",
                limit_concurrency=limits.connections_max,
                callback_notify=self._tell_counts,
                timeout_graceful_shutdown=_DRAIN_SECONDS_MAX,
                ssl_context_factory=None if tls is None else lambda config, default: tls,
            )
        )
        self._serving: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        return int(self._socket.getsockname()[1])

    def start(self) -> None:
        self._serving = asyncio.get_running_loop().create_task(self._server.serve(sockets=[self._socket]), name="http")

    async def stop(self) -> None:
        """Answer running requests, within a time limit, then close."""
        self._server.should_exit = True
        if self._serving is not None:
            await self._serving
        self._socket.close()

    async def _tell_counts(self) -> None:
        self._log.tell_counts()


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


class _WithoutSignals(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
