"""/losses on every broker: records that it could not read lately. The gateway asks all brokers, for /admin/status."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from lakestream.broker.losses import Loss

LOSSES_PATH = "/losses"


def losses_route(kept: Callable[[], Sequence[Loss]]) -> Route:
    async def losses(request: Request) -> Response:
        return JSONResponse([asdict(loss) for loss in kept()])

    return Route(LOSSES_PATH, losses)


def read_losses(page: str) -> list[Loss]:
    """Those of a broker's page; none where it is of a broker that speaks otherwise."""
    try:
        found: list[dict[str, Any]] = json.loads(page)
        return [Loss(partition=one["partition"], offset=one["offset"], problem=one["problem"]) for one in found]
    except (ValueError, KeyError, TypeError):
        return []
