"""A page of the console before it becomes a route: its path, its face, and the access that it needs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from lakestream.model.access import Needs
from lakestream.protocol.rest.paths import CONSOLE_PATH

CONSOLE = CONSOLE_PATH


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    path: str
    face: Callable[[Request], Awaitable[Response]]
    needs: Needs
    methods: tuple[str, ...] = ("GET",)
