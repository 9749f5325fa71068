"""Attach the caller and what it may do to each request: `request.state.caller`, `request.state.access`.

A gate says who the caller is. Which gate a server has depends on whom it serves:

    open_gate        everybody, without limits: nothing is authorized
    AnonymousGate    everybody, as User:ANONYMOUS, with the rights that ACLs give
    ClusterGate      the other processes of the cluster, which know its secret, and nobody else
"""

import hmac
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lakestream.access.access import NO_ACCESS, UNLIMITED, Access
from lakestream.model.caller import ANONYMOUS, Caller

LISTENER = "HTTP"
CLUSTER_SECRET_HEADER = "Lakestream-Cluster-Secret"


class Admission(NamedTuple):
    caller: Caller
    access: Access


Gate: TypeAlias = Callable[[Scope], Admission]


def open_gate(scope: Scope) -> Admission:
    return Admission(_anonymous(scope), UNLIMITED)


class AnonymousGate:
    def __init__(self, access_of: Callable[[Caller], Access]) -> None:
        self._access_of = access_of

    def __call__(self, scope: Scope) -> Admission:
        caller = _anonymous(scope)
        return Admission(caller, self._access_of(caller))


class ClusterGate:
    """For the pages that processes of one cluster show each other."""

    def __init__(self, secret: str) -> None:
        self._secret = secret.encode()

    def __call__(self, scope: Scope) -> Admission:
        told = Headers(scope=scope).get(CLUSTER_SECRET_HEADER, "").encode()
        is_ours = hmac.compare_digest(told, self._secret)
        return Admission(_anonymous(scope), UNLIMITED if is_ours else NO_ACCESS)


def _anonymous(scope: Scope) -> Caller:
    host, port = scope.get("client") or ("", 0)
    return Caller(principal=ANONYMOUS, listener=LISTENER, host=host, port=port)


class WithCaller:
    """Wraps an application, so that its requests carry their caller."""

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self._app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        about = self._gate(scope)._asdict()
        await self._app({**scope, "state": {**scope.get("state", {}), **about}}, receive, send)
