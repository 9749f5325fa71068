"""/admin/compact: show how far tables have caught up with their topics (GET), and request compaction now (POST).

POST {"topics": ["orders"]}      without names: all. Answers like GET, for these topics, with the state before the work.

/admin/maintenance: show the files of tables and what a merge would do (GET), and request a merge of one topic's (POST).

POST /admin/maintenance/orders   -> {"merge": id}; the pipeline does it, and  GET /admin/merges/{id}  says how
"""

import json
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.compaction import CompactionProgress, CompactionRequests
from lakestream.administration.repairs import Maintenance
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import EVERY
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.access.rights import Rights, rights_of, topic_or_all
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

PATH = "/admin/compact"
MAINTENANCE_PATH = "/admin/maintenance"
MERGES_PATH = "/admin/merges"
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
_DESCRIBE_EACH = (Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),)
_ALTER = (Need(Operation.ALTER, ResourceType.TOPIC),)
_ALTER_EACH = (Need(Operation.ALTER, ResourceType.TOPIC, scope="each that is named; without names, all"),)


def compaction_routes(requests: CompactionRequests) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_progress(requests, rights_of(request)))

    async def ask(request: Request) -> Response:
        return await answered(_asked(requests, await request.body(), rights_of(request)))

    return [
        AccessRoute(PATH, look, needs=_DESCRIBE_EACH),
        AccessRoute(PATH, ask, needs=_ALTER_EACH, methods=["POST"]),
    ]


async def _progress(requests: CompactionRequests, rights: Rights) -> dict[str, Any]:
    return _progress_json(await requests.progress(), rights)


async def _asked(requests: CompactionRequests, body: bytes, rights: Rights) -> dict[str, Any]:
    names = _names(body)
    for name in [EVERY] if names is None else names:
        rights.must(Operation.ALTER, (ResourceType.TOPIC, name))
    return _progress_json(await requests.ask(names), rights)


def _progress_json(progress: CompactionProgress, rights: Rights) -> dict[str, Any]:
    return {
        "pipeline": progress.pipeline.name,
        "no_pipeline": progress.pipeline.ruled_out,
        "topics": [
            {
                "name": topic.name,
                "partitions": [{"partition": number, **tail._asdict()} for number, tail in topic.tails.items()],
            }
            for topic in progress.topics
            if rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, topic.name))
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


def maintenance_routes(maintenance: Maintenance) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_tables(maintenance, None, rights_of(request)))

    async def look_at(request: Request) -> Response:
        return await answered(_tables(maintenance, [request.path_params["topic"]], rights_of(request)))

    async def ask(request: Request) -> Response:
        return await answered(_merge_asked(maintenance, request.path_params["topic"]))

    async def outcome(request: Request) -> Response:
        return await answered(_outcome(maintenance, request.path_params["id"], rights_of(request)))

    return [
        AccessRoute(MAINTENANCE_PATH, look, needs=_DESCRIBE_EACH),
        AccessRoute(MAINTENANCE_PATH + "/{topic}", look_at, needs=_DESCRIBE),
        AccessRoute(MAINTENANCE_PATH + "/{topic}", ask, needs=_ALTER, methods=["POST"]),
        AccessRoute(MERGES_PATH + "/{id}", outcome, needs=_DESCRIBE),
    ]


async def _tables(maintenance: Maintenance, names: list[str] | None, rights: Rights) -> dict[str, Any]:
    found = await maintenance.tables(names)
    shown = [one for one in found if rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, one.topic))]
    return {"tables": [asdict(table) for table in shown]}


async def _merge_asked(maintenance: Maintenance, topic: str) -> dict[str, Any]:
    return {"merge": await maintenance.ask(topic)}


async def _outcome(maintenance: Maintenance, id: str, rights: Rights) -> dict[str, Any]:
    found = await maintenance.outcome(id)
    rights.must(Operation.DESCRIBE, topic_or_all(found.topic))
    return {
        "state": found.state.name.lower(),
        "pipeline": found.pipeline.name,
        "no_pipeline": found.pipeline.ruled_out,
        "files": found.files,
        "into": found.into,
        "bytes": found.bytes,
        "reason": found.reason,
    }
