"""Attach the caller to each request: `request.state.caller`."""

from starlette.types import ASGIApp, Receive, Scope, Send

from lakestream.model.caller import ANONYMOUS, Caller

LISTENER = "HTTP"


class WithCaller:
    """Wraps an application, so that its requests carry their caller."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host, port = scope.get("client") or ("", 0)
        caller = Caller(principal=ANONYMOUS, listener=LISTENER, host=host, port=port)
        await self._app({**scope, "state": {**scope.get("state", {}), "caller": caller}}, receive, send)
