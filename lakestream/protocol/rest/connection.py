"""HttpConnection: uvicorn's, with bounds on what a client may do to it and a calm log.

uvicorn waits forever for the rest of a request, and for a client that does not read. Here both have a time. Bytes that
are no HTTP leave one line, which is rate-limited; uvicorn leaves a traceback of h11 where it has begun an answer.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import h11
from starlette.requests import ClientDisconnect
from uvicorn.protocols.http.h11_impl import H11Protocol

from lakestream.protocol.rate_limited_log import RateLimitedLog

_UNFINISHED = (h11.IDLE, h11.SEND_BODY)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    connections_max: int = 1_000
    """Requests above are answered with 503, connections above are closed."""

    request_s_max: float = 60.0
    """From the first byte of a request (of the first one: from the connection) to its last."""

    read_s_max: float = 60.0
    """A client that reads nothing of a long answer for so long is let go."""

    linger_s_max: float = 5.0
    """How long a client may take to read the last answer after its idle connection was closed."""


class HttpConnection(H11Protocol):
    def __init__(self, *args: Any, log: RateLimitedLog, limits: HttpLimits, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._log = log
        self._limits = limits
        self._request_is_due = _Timer()
        self._reading_is_due = _Timer()

    @property
    def _host(self) -> str:
        return self.client[0] if self.client else ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.logger = _ClientLogger(self._log, self._host)
        if len(self.connections) > self._limits.connections_max:
            self._abort_because("too many HTTP connections are open")
        else:
            self._expect_request()

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except h11.ProtocolError:  # an answer had begun, so that none can say what is wrong
            self._abort_because("bytes that are no HTTP")
            return
        self._watch_request()

    def on_response_complete(self) -> None:
        try:
            super().on_response_complete()
        except h11.ProtocolError:
            self._abort_because("bytes that are no HTTP")
            return
        if self.conn.their_state is h11.SEND_BODY:
            self._watch_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading_is_due.start(
            self.loop.call_later(self._limits.read_s_max, self._abort_because, "an HTTP client does not read")
        )

    def resume_writing(self) -> None:
        super().resume_writing()
        self._reading_is_due.cancel()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self.loop.call_later(self._limits.linger_s_max, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._request_is_due.cancel()
        self._reading_is_due.cancel()
        super().connection_lost(exc)

    def _watch_request(self) -> None:
        if self.conn.their_state not in _UNFINISHED:
            self._request_is_due.cancel()
        elif not self._request_is_due.is_running:
            self._expect_request()

    def _expect_request(self) -> None:
        event = "an HTTP request does not come to its end"
        self._request_is_due.start(self.loop.call_later(self._limits.request_s_max, self._abort_because, event))

    def _abort_because(self, event: str) -> None:
        self._log.info(f"{event}, closing the connection", client=self._host)
        self.transport.abort()


class _Timer:
    """Runs out once, unless it is cancelled before."""

    def __init__(self) -> None:
        self._handle: asyncio.TimerHandle | None = None

    @property
    def is_running(self) -> bool:
        return self._handle is not None

    def start(self, handle: asyncio.TimerHandle) -> None:
        self.cancel()
        self._handle = handle

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


class _ClientLogger(logging.Logger):
    """What uvicorn says about one client, into the log of this process."""

    def __init__(self, log: RateLimitedLog, host: str) -> None:
        super().__init__("uvicorn.error", logging.WARNING)
        self._lines = log
        self._host = host

    def handle(self, record: logging.LogRecord) -> None:
        event, problem = record.getMessage().strip(), record.exc_info[1] if record.exc_info else None
        write: Callable[..., None] = self._lines.error if record.levelno >= logging.ERROR else self._lines.info
        if isinstance(problem, ClientDisconnect | h11.ProtocolError):
            self._lines.info("an HTTP client left in the middle of a request", client=self._host)
        elif problem is not None:
            write(event, client=self._host, exc_info=problem)
        else:
            write(event, client=self._host)
