"""Heartbeat (12), versions 0-4: a member of a classic group reports that it is alive, and learns whether to join again.

- REBALANCE_IN_PROGRESS tells the member to join again. Other errors tell it that it is not, or no longer, a member.
- The broker answers from memory, without the metadata store.

v3 static members. v4 flexible.
"""

from __future__ import annotations

from lakestream.broker.groups.asks import HeartbeatAsk
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import heartbeat


async def handle(request: heartbeat.Request, context: RequestContext) -> heartbeat.Response:
    broker = context.broker
    ask = HeartbeatAsk(
        group=request.group_id,
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation=request.generation_id,
    )
    try:
        await broker.groups.coordinator.heartbeat(ask)
    except LakestreamError as error:  # members learn of every rebalance this way: the request has not failed
        return heartbeat.Response(error_code=kafka_error(error)[0])
    return heartbeat.Response()


def error_response(request: heartbeat.Request, context: RequestContext, code: int, message: str) -> heartbeat.Response:
    return heartbeat.Response(error_code=code)


API = Api(
    key=12,
    name="Heartbeat",
    versions=(0, 4),
    needs=(Need(Operation.READ, ResourceType.GROUP),),
    handle=handle,
    error_response=error_response,
)
