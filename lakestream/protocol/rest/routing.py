"""AccessRoute: a route that declares which access its caller needs."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lakestream.model.access import Needs

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]


class AccessRoute(Route):
    """Every served route is one of these. Nothing checks the needs yet."""

    def __init__(self, path: str, endpoint: Endpoint, *, needs: Needs, methods: Sequence[str] = ("GET",)) -> None:
        super().__init__(path, endpoint, methods=list(methods))
        self.needs = needs
