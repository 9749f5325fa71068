"""Answers to callers that lack a right (403) or a login (401), in the words of the face that was asked.

A browser at a page of the console is sent to the login page instead.
"""

from urllib.parse import quote

from starlette.datastructures import Headers
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from lakestream.protocol.rest.paths import CATALOG_PATH, CONSOLE_PATH, LOGIN_PATH, REGISTRY_PATH, TOKENS_PATH

UNAUTHORIZED, FORBIDDEN = 401, 403
REGISTRY_UNAUTHORIZED_CODE, REGISTRY_CODE = 40101, 40301
CHALLENGES = ('Basic realm="lakestream", charset="UTF-8"', 'Bearer realm="lakestream"')


def denied_answer(scope: Scope, message: str) -> Response:
    path = _path(scope)
    if path.startswith(CATALOG_PATH):
        error = {"message": message, "type": "ForbiddenException", "code": FORBIDDEN}
        return JSONResponse({"error": error}, status_code=FORBIDDEN)
    if path.startswith(REGISTRY_PATH):
        return JSONResponse({"error_code": REGISTRY_CODE, "message": message}, status_code=FORBIDDEN)
    return JSONResponse({"error": message}, status_code=FORBIDDEN)


def login_answer(scope: Scope, message: str) -> Response:
    path = _path(scope)
    if _is_page(path) and "text/html" in Headers(scope=scope).get("accept", ""):
        here = path if scope["method"] == "GET" else "/"
        return RedirectResponse(f"{LOGIN_PATH}?to={quote(here, safe='/')}", status_code=303)
    body: object = {"error": message}
    if path == TOKENS_PATH:
        body = {"error": "invalid_client", "error_description": message}
    elif path.startswith(CATALOG_PATH):
        body = {"error": {"message": message, "type": "NotAuthorizedException", "code": UNAUTHORIZED}}
    elif path.startswith(REGISTRY_PATH):
        body = {"error_code": REGISTRY_UNAUTHORIZED_CODE, "message": message}
    response = JSONResponse(body, status_code=UNAUTHORIZED)
    for challenge in CHALLENGES:
        response.headers.append("WWW-Authenticate", challenge)
    return response


def _path(scope: Scope) -> str:
    """The whole path, also below a mount."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path if path.startswith(root) else root + path


def _is_page(path: str) -> bool:
    return path == "/" or path.startswith(f"{CONSOLE_PATH}/")
