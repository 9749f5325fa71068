"""AccessRoute: a route that declares which access its caller needs, and refuses callers that do not have it."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from lakestream.access.access import UNLIMITED, Access
from lakestream.model.access import Needs
from lakestream.protocol.rest.access.denials import denied_answer, denied_need

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class AccessRoute(Route):
    """Every served route is one of these. Here, and nowhere else, requests over HTTP are checked."""

    def __init__(self, path: str, endpoint: Endpoint, *, needs: Needs, methods: Sequence[str] = ("GET",)) -> None:
        super().__init__(path, endpoint, methods=list(methods))
        self.needs = needs

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        access: Access = scope.get("state", {}).get("access", UNLIMITED)  # without a server: in tests
        if access.is_limited and (missing := denied_need(self.needs, access)) is not None:
            await denied_answer(scope, missing)(scope, receive, send)
        else:
            await super().handle(scope, receive, send)
