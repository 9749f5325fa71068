"""/healthz, /readyz and /metrics: the same three on every process.

/healthz   200 while the process answers at all
/readyz    200 when every part that the process needs is ready, 503 otherwise; the body has the state of every part
/metrics   Prometheus text
"""

from collections.abc import Awaitable, Callable, Collection, Mapping

from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from lakestream.model.access import ANYONE, Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.rest.routing import AccessRoute

READY = "ready"

Parts = Callable[[], Awaitable[Mapping[str, str]]]
"""The state of each part: READY, or a sentence saying what is missing."""
MetricsText = Callable[[], Awaitable[bytes]]


def state_of(problem: str | None) -> str:
    """A part's state. `problem`: a sentence saying what is missing; None for a part that is ready."""
    return READY if problem is None else problem


def health_routes(parts: Parts, metrics: MetricsText, *, dispensable: Collection[str] = ()) -> list[AccessRoute]:
    """`dispensable` names parts without which the process is ready all the same."""

    async def healthz(request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(request: Request) -> Response:
        states = await parts()
        ready = all(state == READY for name, state in states.items() if name not in dispensable)
        return JSONResponse({"ready": ready, "parts": dict(states)}, status_code=200 if ready else 503)

    async def exposition(request: Request) -> Response:
        try:
            return Response(await metrics(), media_type=CONTENT_TYPE_LATEST)
        except LakestreamError as error:
            return PlainTextResponse(f"{error}\n", status_code=503)

    return [
        AccessRoute("/healthz", healthz, needs=ANYONE),
        AccessRoute("/readyz", readyz, needs=ANYONE),
        AccessRoute("/metrics", exposition, needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),)),
    ]
