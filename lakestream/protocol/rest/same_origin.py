"""Refuse changes that another site's page asks a browser to make: protection from cross-site request forgery.

A browser says where a request comes from, in `Sec-Fetch-Site`; an older one names the page's `Origin`. A request that
changes something and comes from another site is refused. Programs send neither header, and pass.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN_SITES = frozenset({"same-origin", "none"})


class SameOrigin:
    """Wraps an application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in _SAFE_METHODS and _is_foreign(Headers(scope=scope)):
            words = "this request comes from a page of another site: nothing was changed"
            await JSONResponse({"error": words}, status_code=403)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _is_foreign(headers: Headers) -> bool:
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in _OWN_SITES
    origin = headers.get("origin")
    return origin is not None and urlsplit(origin).netloc != headers.get("host")
