"""/flushes on every broker: what flushes have cost since its start. The gateway asks all brokers, for /admin/status."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.configs.profile import FlushCost
from lakestream.protocol.rest.routing import AccessRoute

FLUSHES_PATH = "/flushes"


def flushes_route(costs: Callable[[], Sequence[FlushCost]]) -> AccessRoute:
    async def flushes(request: Request) -> Response:
        return JSONResponse([asdict(cost) for cost in costs()])

    return AccessRoute(FLUSHES_PATH, flushes, needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),))


def read_flushes(page: str) -> list[FlushCost]:
    """The costs on a broker's page; none if the page has another form."""
    try:
        found: list[dict[str, Any]] = json.loads(page)
        return [FlushCost(**{field.name: one[field.name] for field in fields(FlushCost)}) for one in found]
    except (ValueError, KeyError, TypeError):
        return []
