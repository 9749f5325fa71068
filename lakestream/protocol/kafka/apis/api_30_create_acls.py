"""CreateAcls (30), versions 1-3: add ACLs.

- An ACL counts at this broker when the request is answered, and everywhere else within a second.
- An ACL that cannot be is refused; the others of the request are added. One that exists stays as it is.
- SECURITY_DISABLED if ACLs are not checked here.

v1 pattern types. v2 flexible. v3 users as resources, which have no ACLs here.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import Acl, check_acl
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.acl_words import acl_of, check_enabled
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import create_acls
from lakestream.world.turns import in_turns


async def handle(request: create_acls.Request, context: RequestContext) -> create_acls.Response:
    check_enabled(context)
    read = [_read(asked) async for asked in in_turns(request.creations)]
    sound = [acl for acl in read if isinstance(acl, Acl)]
    if sound:
        await context.broker.authorizer.add_acls(sound, by=context.caller)
    return create_acls.Response(
        results=[_result(KafkaError.NONE, None) if isinstance(each, Acl) else _result(*each) for each in read]
    )


def _read(asked: create_acls.request.AclCreation) -> Acl | tuple[int, str]:
    try:
        acl = acl_of(asked)
        check_acl(acl)
    except LakestreamError as error:
        return kafka_error(error)
    return acl


def _result(code: int, message: str | None) -> create_acls.AclCreationResult:
    return create_acls.AclCreationResult(error_code=code, error_message=message)


def error_response(
    request: create_acls.Request, context: RequestContext, code: int, message: str
) -> create_acls.Response:
    return create_acls.Response(results=[_result(code, message) for _ in request.creations])


API = Api(
    key=30,
    name="CreateAcls",
    versions=(1, 3),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
