"""/admin/compact: show how far tables have caught up with their topics (GET), and request compaction now (POST).

POST {"topics": ["orders"]}      without names: all. Answers like GET, for these topics, with the state before the work.
"""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.compaction import CompactionProgress, CompactionRequests
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/compact"


def compaction_routes(requests: CompactionRequests) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_progress(requests))

    async def ask(request: Request) -> Response:
        return await answered(_asked(requests, await request.body()))

    return [
        AccessRoute(PATH, look, needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),)),
        AccessRoute(PATH, ask, needs=(Need(Operation.ALTER, ResourceType.TOPIC),), methods=["POST"]),
    ]


async def _progress(requests: CompactionRequests) -> dict[str, Any]:
    return _progress_json(await requests.progress())


async def _asked(requests: CompactionRequests, body: bytes) -> dict[str, Any]:
    return _progress_json(await requests.ask(_names(body)))


def _progress_json(progress: CompactionProgress) -> dict[str, Any]:
    return {
        "pipeline": progress.pipeline.name,
        "no_pipeline": progress.pipeline.ruled_out,
        "topics": [
            {
                "name": topic.name,
                "partitions": [{"partition": number, **tail._asdict()} for number, tail in topic.tails.items()],
            }
            for topic in progress.topics
        ],
    }


def _names(body: bytes) -> list[str] | None:
    try:
        names = json.loads(body or b"{}").get("topics")
    except (ValueError, AttributeError):
        raise InvalidRequest('send a JSON object: {"topics": ["name"]}, or {} for all') from None
    if names is not None and not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise InvalidRequest("'topics' is a list of names")
    return names
