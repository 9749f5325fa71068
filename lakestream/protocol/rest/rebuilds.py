"""Rebuilding `main` of a topic's table from its log.

POST /admin/tables/orders/rebuild  -> {"rebuild": id}; the pipeline does it, and  GET /admin/rebuilds/{id}  says how far
"""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.topics.rebuilds import Rebuilds
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.access.rights import Rights, rights_of, topic_or_all
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

TABLES_PATH = "/admin/tables"
REBUILDS_PATH = "/admin/rebuilds"


def rebuild_routes(rebuilds: Rebuilds) -> list[AccessRoute]:
    async def ask(request: Request) -> Response:
        return await answered(_asked(rebuilds, request.path_params["topic"]))

    async def outcome(request: Request) -> Response:
        return await answered(_outcome(rebuilds, request.path_params["id"], rights_of(request)))

    return [
        AccessRoute(
            TABLES_PATH + "/{topic}/rebuild",
            ask,
            needs=(Need(Operation.ALTER, ResourceType.TOPIC),),
            methods=["POST"],
        ),
        AccessRoute(REBUILDS_PATH + "/{id}", outcome, needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),)),
    ]


async def _asked(rebuilds: Rebuilds, topic: str) -> dict[str, Any]:
    return {"rebuild": await rebuilds.ask(topic)}


async def _outcome(rebuilds: Rebuilds, id: str, rights: Rights) -> dict[str, Any]:
    found = await rebuilds.outcome(id)
    rights.must(Operation.DESCRIBE, topic_or_all(found.topic))
    shown = {name: value for name, value in asdict(found).items() if name not in ("state", "pipeline")}
    return {
        "state": found.state.name.lower(),
        "pipeline": found.pipeline.name,
        "no_pipeline": found.pipeline.ruled_out,
        **shown,
    }
