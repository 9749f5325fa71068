"""Answers in the form that registry clients read, and the wrapper of every endpoint: errors and content type."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from lakestream.model.access import Needs
from lakestream.model.registry import SchemaBody, SchemaFormat, StoredSchema, SubjectVersion
from lakestream.protocol.rest.registry.errors import RefusedRequest, code_of
from lakestream.protocol.rest.routing import AccessRoute

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"
_CONTENT_TYPES = (CONTENT_TYPE, "application/vnd.schemaregistry+json", "application/json")

Handler = Callable[[Request], Awaitable[Any]]
"""Returns the JSON of the answer, or a Response."""


def endpoint(path: str, handler: Handler, needs: Needs, method: str = "GET") -> AccessRoute:
    async def answer(request: Request) -> Response:
        try:
            kind = accepted_type(request.headers.get("accept", "*/*"))
            value = await handler(request)
        except Exception as error:  # noqa: BLE001 (every failure gets the answer that clients know)
            return error_answer(error)
        return value if isinstance(value, Response) else json_answer(value, kind)

    return AccessRoute(path, answer, needs=needs, methods=[method])


def json_answer(value: Any, kind: str = CONTENT_TYPE, status: int = 200) -> Response:
    return Response(json.dumps(value, separators=(",", ":")), media_type=kind, status_code=status)


def text_answer(body: SchemaBody) -> Response:
    """The schema text alone, unchanged."""
    return Response(body.text, media_type=CONTENT_TYPE)


def error_answer(error: BaseException) -> Response:
    code, message = code_of(error)
    return json_answer({"error_code": code.code, "message": message}, status=code.status)


def accepted_type(accept: str) -> str:
    """The first of our content types that the client accepts. Raises RefusedRequest."""
    taken = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    for kind in _CONTENT_TYPES:
        if any(one in (kind, "*/*", "application/*", "") for one in taken):
            return kind
    raise RefusedRequest(406, f"the answer is {CONTENT_TYPE}, which the request does not accept")


def schema_json(body: SchemaBody) -> dict[str, Any]:
    """Clients assume Avro if there is no type."""
    shown: dict[str, Any] = {"guid": body.guid}
    if body.format is not SchemaFormat.AVRO:
        shown["schemaType"] = body.format.value
    if body.references:
        shown["references"] = [reference._asdict() for reference in body.references]
    return {**shown, "schema": body.text}


def version_json(version: SubjectVersion, body: SchemaBody | None = None) -> dict[str, Any]:
    """`body` replaces the stored one if the client asked for another form."""
    schema: StoredSchema = version.schema
    deleted = {"deleted": True} if version.deleted else {}
    head = {"subject": version.subject, "version": version.version, "id": schema.id}
    return {**head, **schema_json(body or schema.body), **deleted}


class RegistryApp:
    """Matches routes on paths as sent (%2F is a part of a name). Answers unknown paths with JSON."""

    def __init__(self, routes: Sequence[AccessRoute]) -> None:
        self.routes = routes
        self._router: ASGIApp = Router(routes, default=_nothing_here, redirect_slashes=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = scope.get("raw_path")
        path = (sent.decode("ascii", "replace").partition("?")[0] if sent else scope["path"]).rstrip("/")
        if path == scope.get("root_path", ""):
            path += "/"
        try:
            await self._router({**scope, "path": path}, receive, send)
        except HTTPException as error:
            refused = RefusedRequest(error.status_code, f"HTTP {error.status_code} {error.detail}")
            await error_answer(refused)(scope, receive, send)


async def _nothing_here(scope: Scope, receive: Receive, send: Send) -> None:
    await error_answer(RefusedRequest(404, "HTTP 404 Not Found"))(scope, receive, send)
