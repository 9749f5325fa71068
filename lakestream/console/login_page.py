"""Logging in and out: a form, and a session cookie that no script can read and no other site can send.

The cookie holds a token of the cluster (access/tokens.py). It ends after half a day, with the password, or by logging
out, which makes the browser forget it.
"""

from starlette.requests import Request
from starlette.responses import Response

from lakestream.access.tokens import SESSION_SECONDS
from lakestream.console.forms import SentForm
from lakestream.console.page_route import CONSOLE, PageRoute
from lakestream.console.rendering import Templates, redirected
from lakestream.model.access import ANYONE
from lakestream.model.caller import ANONYMOUS, Caller
from lakestream.protocol.rest.access.denials import UNAUTHORIZED
from lakestream.protocol.rest.access.logins import SESSION_COOKIE, HttpLogins, LoginFailed
from lakestream.protocol.rest.paths import LOGIN_PATH

LOGOUT_PATH = f"{CONSOLE}/logout"


class LoginPage:
    def __init__(self, logins: HttpLogins, templates: Templates) -> None:
        self._logins = logins
        self._templates = templates

    def routes(self) -> list[PageRoute]:
        post = ("POST",)
        return [
            PageRoute(path=LOGIN_PATH, face=self.look, needs=ANYONE),
            PageRoute(path=LOGIN_PATH, face=self.log_in, needs=ANYONE, methods=post),
            PageRoute(path=LOGOUT_PATH, face=self.log_out, needs=ANYONE, methods=post),
        ]

    async def look(self, request: Request) -> Response:
        return self._page(request, _own_path(request.query_params.get("to", "/")))

    async def log_in(self, request: Request) -> Response:
        form = await SentForm.of(request)
        to = _own_path(form.text("to"))
        password = form.fields.get("password", "").encode()
        try:
            token = await self._logins.session_for(form.text("user"), password, _caller(request))
        except LoginFailed as failed:
            return self._page(request, to, problem=str(failed), status=UNAUTHORIZED)
        response = redirected(to)
        response.set_cookie(
            SESSION_COOKIE,
            token,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    async def log_out(self, request: Request) -> Response:
        response = redirected(LOGIN_PATH)
        response.delete_cookie(SESSION_COOKIE, httponly=True, samesite="strict")
        return response

    def _page(self, request: Request, to: str, *, problem: str | None = None, status: int = 200) -> Response:
        principal = _caller(request).principal
        who = None if principal == ANONYMOUS else principal.name
        return self._templates.page(
            "login.html", status=status, here="login", title="Log in", to=to, problem=problem, who=who
        )


def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


def _own_path(to: str) -> str:
    """Never another site's address, which `//example` and `/\\example` are as well."""
    return to if to.startswith("/") and not to.startswith(("//", "/\\")) and to.isprintable() else "/"
