"""/admin/traffic: the last hour of all brokers, a sample every ten seconds."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.traffic import SAMPLE_SECONDS, Traffic
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

LOOK_AT_CLUSTER = (Need(Operation.DESCRIBE, ResourceType.CLUSTER),)


def traffic_routes(traffic: Traffic) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_history(traffic))

    return [AccessRoute("/admin/traffic", look, needs=LOOK_AT_CLUSTER)]


async def _history(traffic: Traffic) -> dict[str, Any]:
    return {"sample_seconds": SAMPLE_SECONDS, "samples": [asdict(one) for one in traffic.history()]}
