"""SaslAuthenticate (36), versions 0-2: the tokens of the mechanism that SaslHandshake chose.

- A failed login is told with one message, whatever was wrong, after a delay that grows with the failures of its
  address; then the connection ends.
- A login holds until the connection ends: the session lifetime is 0. A second login on a connection is refused with
  ILLEGAL_SASL_STATE, and the first one stays.

v1 session lifetime (KIP-368). v2 flexible.
"""

from __future__ import annotations

from lakestream.model.access import ANYONE
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.wire.generated import sasl_authenticate


async def handle(request: sasl_authenticate.Request, context: RequestContext) -> sasl_authenticate.Response:
    if context.login is None:
        raise Refused(KafkaError.ILLEGAL_SASL_STATE, "this listener asks nobody who they are")
    return sasl_authenticate.Response(auth_bytes=await context.login.prove(bytes(request.auth_bytes)))


def error_response(
    request: sasl_authenticate.Request, context: RequestContext, code: int, message: str
) -> sasl_authenticate.Response | None:
    """None after bare tokens, which have no place for an error: the connection is closed."""
    if context.login is not None and context.login.takes_bare_tokens:
        return None
    return sasl_authenticate.Response(error_code=code, error_message=message)


API = Api(key=36, name="SaslAuthenticate", versions=(0, 2), needs=ANYONE, handle=handle, error_response=error_response)
