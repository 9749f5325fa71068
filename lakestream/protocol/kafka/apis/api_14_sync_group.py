"""SyncGroup (14), versions 0-5: the leader hands out its assignment, and every member waits for its own.

- The request waits, as JoinGroup does. Later requests of the connection run meanwhile.
- From v5 on, the protocol must be named: a missing name is a wrong one.
- The assignment is in the metadata store before any member gets it, so another coordinator can continue from it.

v3 static members. v4 flexible. v5 protocol type and name, which must be those of the generation.
"""

from __future__ import annotations

from lakestream.broker.groups.asks import SyncAsk
from lakestream.broker.groups.errors import InconsistentProtocol
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.wire.generated import sync_group

PROTOCOL_FROM_VERSION = 5


async def handle(request: sync_group.Request, context: RequestContext) -> sync_group.Response:
    broker = context.broker
    unnamed = request.protocol_type is None or request.protocol_name is None
    if unnamed and context.api_version >= PROTOCOL_FROM_VERSION:
        raise InconsistentProtocol("the protocol that the join was answered with must be named")
    synced = await broker.groups.coordinator.sync(
        SyncAsk(
            group=request.group_id,
            member_id=request.member_id,
            instance_id=request.group_instance_id,
            generation=request.generation_id,
            protocol_type=request.protocol_type,
            protocol=request.protocol_name,
            assignments={each.member_id: bytes(each.assignment) for each in request.assignments},
        )
    )
    return sync_group.Response(
        protocol_type=synced.protocol_type, protocol_name=synced.protocol, assignment=synced.assignment
    )


def error_response(
    request: sync_group.Request, context: RequestContext, code: int, message: str
) -> sync_group.Response:
    return sync_group.Response(error_code=code, assignment=b"")


API = Api(
    key=14,
    name="SyncGroup",
    versions=(0, 5),
    needs=(Need(Operation.READ, ResourceType.GROUP),),
    handle=handle,
    overlaps=True,
    error_response=error_response,
)
