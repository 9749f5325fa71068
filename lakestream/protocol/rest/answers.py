"""Answers of the /admin pages: a JSON body, or an error with its status."""

from collections.abc import Awaitable
from typing import Any

from starlette.responses import JSONResponse, Response

from lakestream.model.errors import Conflict, Denied, Invalid, LakestreamError, NotFound
from lakestream.model.repair import TooManyRepairs

_UNAVAILABLE = 503
_STATUSES: tuple[tuple[type[LakestreamError], int], ...] = (
    (Denied, 403),
    (Invalid, 400),
    (NotFound, 404),
    (Conflict, 409),
    (TooManyRepairs, 429),
)


async def answered(body: Awaitable[Any]) -> Response:
    try:
        return JSONResponse(await body)
    except LakestreamError as error:
        return JSONResponse({"error": str(error)}, status_code=status_of(error))


def status_of(error: LakestreamError) -> int:
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), _UNAVAILABLE)
