"""Entrance: who is at the other end of a connection, what it may do, and whether it may ask for anything yet."""

import asyncio
from dataclasses import replace

from lakestream.access.access import Access
from lakestream.model.caller import Caller, Principal
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.connection import Connection, Request
from lakestream.protocol.kafka.sasl.login import Login
from lakestream.protocol.kafka.service import Service

SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE = 17, 18, 36
BEFORE_LOGIN = frozenset({SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE})
FRAME_BYTES_MAX_BEFORE_LOGIN = 32 * 1024
LOGIN_SECONDS_MAX = 30.0
"""A connection that has not logged in after this long is closed."""


class Entrance:
    def __init__(self, service: Service, transport: asyncio.BaseTransport, connection: Connection) -> None:
        host, port = (transport.get_extra_info("peername") or ("", 0))[:2]
        principal = service.principal_of(transport.get_extra_info("peercert"))
        self._service = service
        self._connection = connection
        self._since = service.loop.time()
        self._contexts: dict[tuple[int, int], RequestContext] = {}
        self.caller: Caller
        self._access: Access
        self._become(Caller(principal=principal, listener=service.listener, host=host, port=port))
        self._login: Login | None = None
        if service.mechanisms:
            connection.frame_bytes_max = FRAME_BYTES_MAX_BEFORE_LOGIN
            self._login = Login(
                service.mechanisms,
                service.broker.logins,
                self.caller,
                on_bare_tokens=connection.take_bare_tokens,
                on_done=self._logged_in,
            )

    @property
    def is_refused(self) -> bool:
        """The login has failed: the connection ends once that has been told."""
        return self._login is not None and self._login.has_failed

    def is_overdue(self, now: float) -> bool:
        waiting = self._login is not None and not self._login.is_done
        return waiting and now - self._since > LOGIN_SECONDS_MAX

    def may_ask(self, api: Api) -> bool:
        if self._login is None or self._login.is_done:
            return True
        return api.key in BEFORE_LOGIN and not self._login.has_failed

    def context(self, request: Request) -> RequestContext:
        """The request's context. The last one of the same version nearly always fits: clients repeat themselves."""
        key = request.route.api_key, request.route.api_version
        context = self._contexts.get(key)
        if context is None or context.client_id != request.client_id:
            context = self._contexts[key] = RequestContext(
                api_version=request.route.api_version,
                client_id=request.client_id,
                caller=self.caller,
                broker=self._service.broker,
                apis=self._service.registry,
                access=self._access,
                login=self._login,
            )
        return context

    def _logged_in(self, principal: Principal) -> None:
        self._connection.take_requests(frame_bytes_max=self._service.limits.frame_bytes_max)
        self._become(replace(self.caller, principal=principal))

    def _become(self, caller: Caller) -> None:
        """Requests that start from here on are this caller's."""
        self.caller = caller
        self._access = self._service.broker.authorizer.access_of(caller)
        self._contexts.clear()
