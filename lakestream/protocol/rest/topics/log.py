"""/admin/logs/{topic}: where a topic's records lie, for readers that get them from the object store themselves.

GET /admin/logs/orders                                           partitions with their extents, contract, object store
GET /admin/logs/orders/spans?partition=0&start=0&end=1000        spans of the range; the rest begins at "until"
GET /admin/logs/orders/span-at-time?partition=0&timestamp_ms=0   the first span with a record of this time or later

A span whose bytes lie in the metadata store comes with them, as "data" in base64.
"""

import base64
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topics.log import TopicLogs
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.model.place import FileSpan, Span
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

LOGS_PATH = "/admin/logs"
_NUMBER_MAX = 2**63 - 1


def topic_log_routes(logs: TopicLogs) -> list[AccessRoute]:
    async def log(request: Request) -> Response:
        return await answered(_log(logs, request))

    async def spans(request: Request) -> Response:
        return await answered(_spans(logs, request))

    async def span_at_time(request: Request) -> Response:
        return await answered(_span_at_time(logs, request))

    needs = (Need(Operation.READ, ResourceType.TOPIC),)
    path = f"{LOGS_PATH}/{{topic}}"
    return [
        AccessRoute(path, log, needs=needs),
        AccessRoute(f"{path}/spans", spans, needs=needs),
        AccessRoute(f"{path}/span-at-time", span_at_time, needs=needs),
    ]


async def _log(logs: TopicLogs, request: Request) -> dict[str, Any]:
    found = await logs.log(request.path_params["topic"])
    return {
        "topic": found.topic.name,
        "id": found.topic.id.hex(),
        "objects": found.objects_url,
        "partitions": [{"partition": one.number, "start": one.start, "end": one.end} for one in found.partitions],
        "contract": found.contract.to_text(),
    }


async def _spans(logs: TopicLogs, request: Request) -> dict[str, Any]:
    partition, start, end = (_number(request, name) for name in ("partition", "start", "end"))
    found = await logs.spans(request.path_params["topic"], partition, start, end)
    return {
        "start": found.start,
        "end": found.end,
        "until": found.until,
        "spans": [_span_json(span, found.inline) for span in found.spans],
        "aborted": [one._asdict() for one in found.aborted],
    }


async def _span_at_time(logs: TopicLogs, request: Request) -> dict[str, Any]:
    partition, timestamp_ms = _number(request, "partition"), _number(request, "timestamp_ms")
    found = await logs.span_at_time(request.path_params["topic"], partition, timestamp_ms)
    return {"span": None if found is None else _span_json(found, {})}


def _span_json(span: Span | FileSpan, inline: Mapping[Span, bytes]) -> dict[str, Any]:
    if isinstance(span, FileSpan):
        return {"in": "table", **span._asdict()}
    data = inline.get(span)
    return {"in": "wal", **span._asdict(), **({} if data is None else {"data": base64.b64encode(data).decode()})}


def _number(request: Request, name: str) -> int:
    text = request.query_params.get(name, "")
    if not (text.isascii() and text.isdecimal() and int(text) <= _NUMBER_MAX):
        raise InvalidRequest(f"'{name}' must be a whole number from 0 on: add ?{name}=0")
    return int(text)
