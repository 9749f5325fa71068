"""AccessRoute: a route that declares which access its caller needs, and refuses callers that do not have it.

needs of the cluster, and of what the path names      ->  asked here, before the handler
needs of what a body names, or of a table's topic     ->  asked by the handler, of the request's rights
needs that nobody asked about                         ->  the answer is withheld
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias
from urllib.parse import unquote

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lakestream.access.access import NO_ACCESS, UNLIMITED, Access
from lakestream.model.access import Need, Needs, ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.model.errors import Denied
from lakestream.protocol.rest.access.denials import FORBIDDEN, denied_answer, login_answer
from lakestream.protocol.rest.access.rights import Resource, Rights, keep_rights, subject_resource

log = structlog.get_logger(__name__)

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

_LEVEL_SEPARATOR = "\x1f"
_THE_CONTEXT = ":.:"
"""Of the registry: the only one, which clients may write before a subject."""


class AccessRoute(Route):
    """Every served route is one of these. Requests over HTTP are checked here, and by `Rights` that are made here."""

    def __init__(self, path: str, endpoint: Endpoint, *, needs: Needs, methods: Sequence[str] = ("GET",)) -> None:
        super().__init__(path, endpoint, methods=list(methods))
        self.needs = needs
        self._answer = endpoint

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state = scope.get("state", {})
        access: Access = state.get("access", UNLIMITED)  # without a server: in tests
        if not access.is_limited or (self.methods and scope["method"] not in self.methods):
            await super().handle(scope, receive, send)
            return
        if self.needs and state.get("lacks_login", False):
            await login_answer(scope, "log in first")(scope, receive, send)
            return
        if self.needs and access is NO_ACCESS:
            await denied_answer(scope, "this is for other processes of the cluster")(scope, receive, send)
            return
        request = Request(scope, receive, send)
        rights = Rights(self.needs, access)
        keep_rights(request, rights)
        response = await self._checked(request, rights)
        if rights.has_denied and response.status_code == FORBIDDEN and state.get("could_log_in", False):
            response = login_answer(scope, "nobody is logged in, and anonymous callers may not do this: log in")
        await response(scope, receive, send)

    async def _checked(self, request: Request, rights: Rights) -> Response:
        try:
            for need in self.needs:
                if not need.scope and (resources := self._named_all(request, need)):
                    rights.must(need.operation, *resources)
        except Denied as denied:
            return denied_answer(request.scope, str(denied))
        response = await self._answer(request)
        if response.status_code < 400 and (forgotten := rights.unasked()) is not None:
            log.error("a handler did not ask for a right; its answer is withheld", path=self.path, need=str(forgotten))
            return denied_answer(request.scope, "whether this is allowed was not found out")
        return response

    def _named_all(self, request: Request, need: Need) -> list[Resource]:
        """What the need is about, with its alternative. Empty: the path does not say all of it."""
        found = [self._named(request, each) for each in (need, need.or_else) if each is not None]
        return [] if None in found else [each for each in found if each is not None]

    def _named(self, request: Request, need: Need) -> Resource | None:
        given = request.path_params
        match need.resource:
            case ResourceType.CLUSTER:
                return ResourceType.CLUSTER, CLUSTER_NAME
            case ResourceType.TOPIC:
                name = given.get("topic", given.get("name"))
            case ResourceType.GROUP:
                name = given.get("group")
            case ResourceType.SUBJECT if "subject" in given:
                return subject_resource(unquote(given["subject"]).removeprefix(_THE_CONTEXT))
            case ResourceType.NAMESPACE:
                name = _dotted(given.get("namespace"))
            case ResourceType.VIEW if "view" in given:
                name = f"{_dotted(given['namespace'])}.{given['view']}"
            case _:
                name = None
        return None if name is None else (need.resource, name)


def _dotted(namespace: str | None) -> str | None:
    return None if namespace is None else namespace.replace(_LEVEL_SEPARATOR, ".")
