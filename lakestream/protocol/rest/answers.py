"""Answers of the /admin pages: a JSON body, or an error with its status."""

from collections.abc import Awaitable
from typing import Any

from starlette.responses import JSONResponse, Response

from lakestream.model.errors import InvalidRequest, LakestreamError, NotFound
from lakestream.model.repair import TooManyRepairs

_UNAVAILABLE = 503
_STATUSES: tuple[tuple[type[LakestreamError], int], ...] = (
    (InvalidRequest, 400),
    (NotFound, 404),
    (TooManyRepairs, 429),
)


async def answered(body: Awaitable[Any]) -> Response:
    try:
        return JSONResponse(await body)
    except LakestreamError as error:
        status = next((status for kind, status in _STATUSES if isinstance(error, kind)), _UNAVAILABLE)
        return JSONResponse({"error": str(error)}, status_code=status)
