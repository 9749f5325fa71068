"""/losses on every broker: records that it could not read lately. The gateway asks all brokers, for /admin/status."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.broker.losses import Loss
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.routing import AccessRoute

LOSSES_PATH = "/losses"


def losses_route(kept: Callable[[], Sequence[Loss]]) -> AccessRoute:
    async def losses(request: Request) -> Response:
        return JSONResponse([asdict(loss) for loss in kept()])

    return AccessRoute(LOSSES_PATH, losses, needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),))


def read_losses(page: str) -> list[Loss]:
    """The losses on a broker's page; none if the page has another form."""
    try:
        found: list[dict[str, Any]] = json.loads(page)
        return [Loss(partition=one["partition"], offset=one["offset"], problem=one["problem"]) for one in found]
    except (ValueError, KeyError, TypeError):
        return []
