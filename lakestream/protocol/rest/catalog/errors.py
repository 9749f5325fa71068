"""The one table that maps exceptions to the REST specification's errors: a status and the name of an exception.

Clients act on both. They retry 409 CommitFailedException on the new state. A 5xx answer to a commit means that its
outcome is unknown. They report any other error to the user.
"""

from typing import NamedTuple

import structlog
from starlette.responses import JSONResponse

from lakestream.model import errors, table_errors

log = structlog.get_logger(__name__)


class RestError(NamedTuple):
    status: int
    type: str


CODES: dict[type[BaseException], RestError] = {
    table_errors.UnknownNamespace: RestError(404, "NoSuchNamespaceException"),
    table_errors.UnknownTable: RestError(404, "NoSuchTableException"),
    table_errors.UnknownView: RestError(404, "NoSuchViewException"),
    table_errors.NamespaceExists: RestError(409, "AlreadyExistsException"),
    table_errors.NamespaceNotEmpty: RestError(409, "NamespaceNotEmptyException"),
    table_errors.TableExists: RestError(409, "AlreadyExistsException"),
    errors.TopicExists: RestError(409, "AlreadyExistsException"),
    table_errors.CommitConflict: RestError(409, "CommitFailedException"),
    table_errors.AnsweredBefore: RestError(409, "CommitFailedException"),
    table_errors.InvalidTableChange: RestError(400, "BadRequestException"),
    table_errors.RepeatedDialect: RestError(400, "IllegalArgumentException"),
    table_errors.InvalidLocation: RestError(400, "BadRequestException"),
    table_errors.Guarded: RestError(403, "ForbiddenException"),
    table_errors.DamagedTable: RestError(500, "InternalServerError"),
    table_errors.MissingTableFile: RestError(404, "NotFoundException"),
    errors.Denied: RestError(403, "ForbiddenException"),
    # Kinds: the advice for exceptions of other rooms.
    errors.Invalid: RestError(400, "BadRequestException"),
    errors.NotFound: RestError(404, "NotFoundException"),
    errors.Conflict: RestError(409, "CommitFailedException"),
    errors.Unavailable: RestError(503, "ServiceUnavailableException"),
    errors.Fenced: RestError(503, "ServiceUnavailableException"),
    errors.Corrupt: RestError(500, "InternalServerError"),
    errors.Exhausted: RestError(503, "ServiceUnavailableException"),
}


class Unprocessable(errors.Invalid):
    """The request is well-formed and contradicts itself, or an earlier one."""


CODES[Unprocessable] = RestError(422, "UnprocessableEntityException")


def error_response(error: BaseException) -> JSONResponse:
    for kind in type(error).__mro__:
        if kind in CODES:
            return error_answer(CODES[kind], str(error) or kind.__name__)
    log.error("catalog request failed", exc_info=error)
    return error_answer(RestError(500, "InternalServerError"), "the request failed; the gateway's log says why")


def error_answer(answer: RestError, message: str) -> JSONResponse:
    body = {"error": {"message": message, "type": answer.type, "code": answer.status}}
    return JSONResponse(body, status_code=answer.status)
