"""SaslHandshake (17), versions 0-1: choose the mechanism by which a connection will say who it is.

- Answered before a login, and only once for a connection. Listeners without SASL answer ILLEGAL_SASL_STATE.
- An unknown mechanism gets the list of those that are offered, and the connection ends.

v0 the tokens that follow are bare frames, without headers. v1 they come by SaslAuthenticate.
"""

from __future__ import annotations

from lakestream.model.access import ANYONE
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire.generated import sasl_handshake

AUTHENTICATE_FROM_VERSION = 1


async def handle(request: sasl_handshake.Request, context: RequestContext) -> sasl_handshake.Response:
    login = context.login
    if login is None:
        return sasl_handshake.Response(error_code=KafkaError.ILLEGAL_SASL_STATE, mechanisms=[])
    code = login.choose(request.mechanism, bare_tokens=context.api_version < AUTHENTICATE_FROM_VERSION)
    return sasl_handshake.Response(error_code=code, mechanisms=list(login.mechanisms))


def error_response(
    request: sasl_handshake.Request, context: RequestContext, code: int, message: str
) -> sasl_handshake.Response:
    return sasl_handshake.Response(error_code=code, mechanisms=[])


API = Api(key=17, name="SaslHandshake", versions=(0, 1), needs=ANYONE, handle=handle, error_response=error_response)
