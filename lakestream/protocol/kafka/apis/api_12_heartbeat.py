"""Heartbeat (12), versions 0-4: a member of a classic group is alive, and learns whether to join again.

- REBALANCE_IN_PROGRESS says: join again. Other errors: the member is not, or no longer, what it says.
- Answered from memory; the metadata store is not asked.

v3 static members. v4 flexible.
"""

from typing import Any

from lakestream.broker.broker import Broker
from lakestream.broker.groups.asks import HeartbeatAsk
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.registry import Api, RequestContext
from lakestream.protocol.kafka.wire import messages

_heartbeat = messages.api(12)


async def handle(request: Any, context: RequestContext) -> Any:
    broker: Broker = context.broker
    ask = HeartbeatAsk(
        group=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
    )
    try:
        await broker.groups.coordinator.heartbeat(ask)
    except LakestreamError as error:  # how members learn of every rebalance: no failure of the request
        return _heartbeat.Response(error_code=kafka_error(error)[0])
    return _heartbeat.Response()


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return _heartbeat.Response(error_code=code)


API = Api(
    key=12,
    name="Heartbeat",
    versions=(0, 4),
    needs=(Need(Operation.READ, ResourceType.GROUP),),
    handle=handle,
    error_response=error_response,
)
