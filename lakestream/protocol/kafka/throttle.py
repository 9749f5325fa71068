"""Throttle: makes a connection wait that has used up a quota (KIP-219).

    answer made -> what it cost is spent -> the answer leaves at once and says how long -> no request starts until then

A client that honours the answer's throttle time waits by itself. For one that does not, its next requests wait here,
and the bounds on unanswered requests stop it from sending more.
"""

import types
from collections.abc import Callable, Coroutine, Generator
from typing import Any

from lakestream.model.quota import QuotaKind
from lakestream.protocol.kafka.api import Api, Response, Starting
from lakestream.protocol.kafka.connection import Request
from lakestream.protocol.kafka.service import Service

PRODUCE, FETCH = 0, 1
NEVER_THROTTLED = frozenset({17, 18, 36})
"""Logins and ApiVersions, as in Kafka: their clients could not go on."""
PERCENT = 100.0


class Throttle:
    """Of one connection."""

    def __init__(self, service: Service, on_over: Callable[[], None]) -> None:
        """`on_over` is called when the client need not be silent any more."""
        self._service = service
        self._quotas = service.broker.quotas
        self._now = service.broker.clock.monotonic
        self._on_over = on_over
        self._silent_until = 0.0
        self.is_silent = False
        """Nothing is read, and no request starts."""

    def timed(self, request: Request, begin: Callable[[], Starting]) -> Starting:
        """Begin, and count the time of each step of the request, but not the waits between them."""
        if not self._quotas.exist:
            return begin()
        began = self._now()
        started = begin()
        request.busy_seconds += self._now() - began
        return _timed(started, self._now, request) if isinstance(started, Coroutine) else started

    def charge(self, api: Api, request: Request, response: Response) -> None:
        """Count what the request has cost, and let the answer tell the wait."""
        if not self._quotas.exist or api.key in NEVER_THROTTLED or request.context is None:
            return
        seconds = max(self._spend(kind, amount, request) for kind, amount in _costs(api, request, response))
        if seconds <= 0:
            return
        if response is not None and hasattr(response, "throttle_time"):
            response.throttle_time = max(response.throttle_time, round(seconds * 1000))
        self._silent_until = max(self._silent_until, self._now() + seconds)
        if not self.is_silent:
            self.is_silent = True
            self._service.metrics.client_throttled()
            self._wait()

    def _wait(self) -> None:
        if (seconds := self._silent_until - self._now()) > 0:
            self._service.loop.call_later(seconds, self._wait)
        else:
            self.is_silent = False
            self._on_over()

    def _spend(self, kind: QuotaKind, amount: float, request: Request) -> float:
        return self._quotas.spend(kind, amount, request.context.caller, request.context.client_id)


def _costs(api: Api, request: Request, response: Response) -> list[tuple[QuotaKind, float]]:
    costs = [(QuotaKind.REQUEST_TIME, request.busy_seconds * PERCENT)]
    if api.key == PRODUCE:
        costs.append((QuotaKind.PRODUCED_BYTES, float(request.frame_bytes)))
    if api.key == FETCH and response is not None:
        costs.append((QuotaKind.FETCHED_BYTES, float(_record_bytes(response))))
    return costs


def _record_bytes(response: Any) -> int:
    return sum(len(part.records or b"") for topic in response.responses for part in topic.partitions)


async def _timed(running: Coroutine[Any, Any, Any], now: Callable[[], float], request: Request) -> Any:
    return await _steps(running, now, request)


@types.coroutine
def _steps(running: Coroutine[Any, Any, Any], now: Callable[[], float], request: Request) -> Generator[Any, Any, Any]:
    step: Callable[[], Any] = lambda: running.send(None)  # noqa: E731
    while True:
        began = now()
        try:
            awaited = step()
        except StopIteration as done:
            return done.value
        finally:
            request.busy_seconds += now() - began
        try:
            sent = yield awaited
        except BaseException as thrown:  # noqa: BLE001 - passed on, as `await` would
            step = _throwing(running, thrown)
        else:
            step = _sending(running, sent)


def _throwing(running: Coroutine[Any, Any, Any], thrown: BaseException) -> Callable[[], Any]:
    return lambda: running.throw(thrown)


def _sending(running: Coroutine[Any, Any, Any], sent: Any) -> Callable[[], Any]:
    return lambda: running.send(sent)
