"""The one table that maps exceptions to the codes that registry clients know: an HTTP status, and a finer code."""

from typing import NamedTuple

import structlog

from lakestream.model import errors, registry_errors

log = structlog.get_logger(__name__)


class Code(NamedTuple):
    status: int
    code: int


class RefusedRequest(errors.Invalid):
    """The request itself is wrong, whatever it asks for. `status` is also its code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


CODES: dict[type[BaseException], Code] = {
    registry_errors.UnknownSubject: Code(404, 40401),
    registry_errors.UnknownVersion: Code(404, 40402),
    registry_errors.UnknownSchema: Code(404, 40403),
    registry_errors.SubjectDeleted: Code(404, 40404),
    registry_errors.SubjectNotDeleted: Code(404, 40405),
    registry_errors.VersionDeleted: Code(404, 40406),
    registry_errors.VersionNotDeleted: Code(404, 40407),
    registry_errors.CompatibilityNotSet: Code(404, 40408),
    registry_errors.ModeNotSet: Code(404, 40409),
    registry_errors.IncompatibleSchema: Code(409, 409),
    registry_errors.InvalidSchema: Code(422, 42201),
    registry_errors.InvalidVersion: Code(422, 42202),
    registry_errors.InvalidCompatibility: Code(422, 42203),
    registry_errors.InvalidMode: Code(422, 42204),
    registry_errors.NotPermitted: Code(422, 42205),
    registry_errors.ReferenceExists: Code(422, 42206),
    registry_errors.IdMismatch: Code(422, 42207),
    registry_errors.InvalidSubject: Code(422, 42208),
    registry_errors.SchemaTooLarge: Code(422, 42209),
    registry_errors.UnsupportedRules: Code(422, 42210),
    registry_errors.SubjectChanged: Code(500, 50002),
    errors.Denied: Code(403, 40301),
    # Kinds: the advice for exceptions of other rooms.
    errors.Invalid: Code(422, 422),
    errors.NotFound: Code(404, 404),
    errors.Conflict: Code(409, 409),
    errors.Unavailable: Code(500, 50001),
    errors.Fenced: Code(500, 50001),
    errors.Corrupt: Code(500, 50001),
    errors.Exhausted: Code(500, 50001),
}


def code_of(error: BaseException) -> tuple[Code, str]:
    """The code, and the message."""
    if isinstance(error, RefusedRequest):
        return Code(error.status, error.status), str(error)
    for kind in type(error).__mro__:
        if kind in CODES:
            return CODES[kind], str(error) or kind.__name__
    log.error("registry request failed", exc_info=error)
    return Code(500, 500), "the request failed; the gateway's log says why"
