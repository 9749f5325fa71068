"""Asks the gateway where a topic's records lie (`/admin/logs`)."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx

from lakestream.model.errors import InvalidRequest, NotFound, Unavailable
from lakestream.model.place import FileSpan, Span
from lakestream.model.transaction import AbortedRange
from lakestream.world.clock import Clock

ANSWER_SECONDS_MAX = 30.0
ATTEMPTS_MAX = 6
PAUSE_SECONDS = 0.2
"""The pause before the second attempt; each further one is twice as long. A gateway that starts again is missed for
some seconds."""
_PASSING = (500, 502, 503, 504)


class Extent(NamedTuple):
    """Offsets [start, end) of a partition."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOfTopic:
    topic: str
    id: str
    objects_url: str
    extents: Mapping[int, Extent]
    """By partition number."""
    contract: str
    """As text (contract/topic/topic_contract.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpansOfRange:
    log_start: int
    """The partition's first offset when the gateway was asked."""
    spans: tuple[Span | FileSpan, ...]
    inline: Mapping[Span, bytes]
    """The bytes of the spans that lie in no object."""
    aborted: tuple[AbortedRange, ...]
    """Aborted transactions whose records lie in the spans of the WAL."""


class GatewayLogs:
    def __init__(self, gateway: str, clock: Clock) -> None:
        """`gateway` is HOST:PORT or a URL."""
        self._url = (gateway if "://" in gateway else f"http://{gateway}").rstrip("/")
        self._clock = clock

    async def log(self, topic: str) -> LogOfTopic:
        """Raises NotFound, Unavailable."""
        found = await self._ask(_path(topic))
        return LogOfTopic(
            topic=found["topic"],
            id=found["id"],
            objects_url=found["objects"],
            extents={one["partition"]: Extent(one["start"], one["end"]) for one in found["partitions"]},
            contract=found["contract"],
        )

    async def spans(self, topic: str, partition: int, start: int, end: int) -> SpansOfRange:
        """All spans that hold offsets in [start, end). Raises NotFound, Unavailable."""
        spans: list[Span | FileSpan] = []
        inline: dict[Span, bytes] = {}
        aborted: dict[AbortedRange, None] = {}
        at, log_start = start, 0
        while at < end:
            found = await self._ask(f"{_path(topic)}/spans", partition=partition, start=at, end=end)
            log_start = found["start"]
            spans += [_span(one) for one in found["spans"]]
            inline |= {Span(**_fields(one)): base64.b64decode(one["data"]) for one in found["spans"] if "data" in one}
            aborted |= {AbortedRange(**one): None for one in found["aborted"]}
            if found["until"] <= at:
                break
            at = found["until"]
        return SpansOfRange(log_start=log_start, spans=tuple(spans), inline=inline, aborted=tuple(aborted))

    async def span_at_time(self, topic: str, partition: int, timestamp_ms: int) -> Span | FileSpan | None:
        """The first span with a record of this time or a later one. Raises NotFound, Unavailable."""
        path = f"{_path(topic)}/span-at-time"
        found = (await self._ask(path, partition=partition, timestamp_ms=timestamp_ms))["span"]
        return None if found is None else _span(found)

    async def _ask(self, path: str, **query: int) -> Any:
        pause = PAUSE_SECONDS
        for left in reversed(range(ATTEMPTS_MAX)):
            try:
                return await self._once(path, query)
            except Unavailable:
                if not left:
                    raise
            await self._clock.sleep(pause)
            pause *= 2
        raise AssertionError("the last attempt returns or raises")

    async def _once(self, path: str, query: Mapping[str, int]) -> Any:
        # Connect directly, not through a proxy that the environment may name.
        async with httpx.AsyncClient(base_url=self._url, timeout=ANSWER_SECONDS_MAX, trust_env=False) as client:
            try:
                answer = await client.get(path, params=dict(query))
                found = answer.json()
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                raise Unavailable(
                    f"no Lakestream gateway answers at {self._url} ({error or type(error).__name__}): start it, or "
                    'name it by .option("http", "HOST:PORT")'
                ) from None
        if answer.status_code == httpx.codes.OK:
            return found
        reason = f"the gateway at {self._url} says: {_reason(found) or answer.reason_phrase}"
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NotFound(reason)
        raise Unavailable(reason) if answer.status_code in _PASSING else InvalidRequest(reason)


def _path(topic: str) -> str:
    return f"/admin/logs/{quote(topic, safe='')}"


def _reason(body: Any) -> str | None:
    return body.get("error") if isinstance(body, dict) else None


def _span(content: Mapping[str, Any]) -> Span | FileSpan:
    return FileSpan(**_fields(content)) if content["in"] == "table" else Span(**_fields(content))


def _fields(content: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("in", "data")}
