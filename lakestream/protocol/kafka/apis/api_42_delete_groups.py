"""DeleteGroups (42), versions 0-2: delete groups without members, with all their offsets.

v2 flexible.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import delete_groups
from lakestream.world.turns import in_turns


async def handle(request: delete_groups.Request, context: RequestContext) -> delete_groups.Response:
    names = dict.fromkeys(request.groups_names)
    return delete_groups.Response(
        results=[_result(name, await _delete_one(name, context.broker)) async for name in in_turns(names)]
    )


async def _delete_one(name: str, broker: Broker) -> int:
    try:
        await broker.groups.administration.delete(name)
    except LakestreamError as error:
        return kafka_error(error)[0]
    return KafkaError.NONE


def _result(name: str, code: int) -> delete_groups.DeletableGroupResult:
    return delete_groups.DeletableGroupResult(group_id=name, error_code=code)


def error_response(
    request: delete_groups.Request, context: RequestContext, code: int, message: str
) -> delete_groups.Response:
    return delete_groups.Response(results=[_result(name, code) for name in dict.fromkeys(request.groups_names)])


API = Api(
    key=42,
    name="DeleteGroups",
    versions=(0, 2),
    needs=(Need(Operation.DELETE, ResourceType.GROUP),),
    handle=handle,
    error_response=error_response,
)
