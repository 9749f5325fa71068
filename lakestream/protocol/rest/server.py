"""Run an HTTP server (uvicorn) inside a running event loop.

The process that owns the loop keeps its signal handlers; uvicorn would replace them.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from lakestream.protocol.rest.callers import WithCaller

_BACKLOG = 128
_DRAIN_SECONDS_MAX = 5
_CONNECTIONS_MAX = 1_000


class HttpServer:
    def __init__(self, app: ASGIApp, host: str, port: int) -> None:
        """Binds at once, so that a taken port (OSError) or a chosen one is known before anything runs."""
        self._socket = socket.create_server((host, port), backlog=_BACKLOG, family=_family(host))
        # Each connection inherits this option. asyncio sets it only for sockets that name their protocol, which this
        # one does not. uvicorn writes head and body separately: without the option, the body would wait 40 ms for the
        # client's delayed ACK.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server = _WithoutSignals(
            uvicorn.Config(
                WithCaller(app),
                log_config=None,
                access_log=False,
                lifespan="off",
                limit_concurrency=_CONNECTIONS_MAX,
                timeout_graceful_shutdown=_DRAIN_SECONDS_MAX,
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


class _WithoutSignals(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
