"""Attach the caller and what it may do to each request: `request.state.caller`, `request.state.access`.

A gate says who the caller is. Which gate a server has depends on whom it serves:

    open_gate        everybody, without limits: nothing is authorized
    LoginGate        users that log in; everybody else is User:ANONYMOUS, with the rights that ACLs give it, or none
    ClusterGate      the other processes of the cluster, which know its secret, and nobody else
"""

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lakestream.access.access import NO_ACCESS, UNLIMITED, Access
from lakestream.model.caller import ANONYMOUS, Caller, Principal
from lakestream.protocol.rest.access.denials import login_answer
from lakestream.protocol.rest.access.logins import HttpLogins, LoginFailed

LISTENER = "HTTP"
CLUSTER_SECRET_HEADER = "Lakestream-Cluster-Secret"


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    caller: Caller
    access: Access
    could_log_in: bool = False
    """Nobody is logged in, and somebody who is may have more rights."""
    lacks_login: bool = False
    """Nobody is logged in, and somebody must be."""


Gate: TypeAlias = Callable[[Scope], Awaitable[Admission]]
"""Raises LoginFailed."""


async def open_gate(scope: Scope) -> Admission:
    return Admission(caller=_anonymous(scope), access=UNLIMITED)


class LoginGate:
    def __init__(self, logins: HttpLogins, access_of: Callable[[Caller], Access], *, must_log_in: bool) -> None:
        self._logins = logins
        self._access_of = access_of
        self._must_log_in = must_log_in

    async def __call__(self, scope: Scope) -> Admission:
        anonymous = _anonymous(scope)
        user = await self._logins.user_of(Headers(scope=scope), anonymous)
        if user is not None:
            caller = Caller(
                principal=Principal("User", user), listener=LISTENER, host=anonymous.host, port=anonymous.port
            )
            return Admission(caller=caller, access=self._access_of(caller))
        if self._must_log_in:
            return Admission(caller=anonymous, access=NO_ACCESS, could_log_in=True, lacks_login=True)
        return Admission(caller=anonymous, access=self._access_of(anonymous), could_log_in=True)


class ClusterGate:
    """For the pages that processes of one cluster show each other."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    async def __call__(self, scope: Scope) -> Admission:
        told = Headers(scope=scope).get(CLUSTER_SECRET_HEADER, "").encode()
        is_ours = hmac.compare_digest(told, self._secret)
        return Admission(caller=_anonymous(scope), access=UNLIMITED if is_ours else NO_ACCESS)


def _anonymous(scope: Scope) -> Caller:
    host, port = scope.get("client") or ("", 0)
    return Caller(principal=ANONYMOUS, listener=LISTENER, host=host, port=port)


class WithCaller:
    """Wraps an application, so that its requests carry their caller."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            admission = await self._gate(scope)
        except LoginFailed as failed:
            await login_answer(scope, str(failed))(scope, receive, send)
            return
        about = {name: getattr(admission, name) for name in Admission.__slots__}
        await self._app({**scope, "state": {**scope.get("state", {}), **about}}, receive, send)
