"""LeaveGroup (13), versions 0-5: members leave, and the others need not wait for their sessions to end.

- From v3 on several members at once, each with its own answer; an administrator removes a static member by its instance
  id alone.
- A member of the newer group protocol leaves by ConsumerGroupHeartbeat instead.

v3 several members. v4 flexible. v5 reason, for people; the broker does not keep it.
"""

from __future__ import annotations

from lakestream.broker.groups.asks import LeaveAsk, Leaver, Left
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import leave_group
from lakestream.world.turns import in_turns, slices

MANY_FROM_VERSION = 3
LEAVERS_AT_ONCE = 1_000
"""Members that leave before one rebalance begins; other connections wait meanwhile. A longer request causes one
rebalance for each such slice."""


async def handle(request: leave_group.Request, context: RequestContext) -> leave_group.Response:
    broker = context.broker
    if context.api_version < MANY_FROM_VERSION:
        alone = LeaveAsk(group=request.group_id, leavers=[Leaver(request.member_id, None)])
        [left] = await broker.groups.coordinator.leave(alone)
        return leave_group.Response(error_code=_code(left.error))
    leavers = [Leaver(each.member_id, each.group_instance_id) for each in request.members]
    all_left: list[Left] = []
    async for some in in_turns(slices(leavers, LEAVERS_AT_ONCE), per_turn=1):
        all_left += await broker.groups.coordinator.leave(LeaveAsk(group=request.group_id, leavers=some))
    return leave_group.Response(
        members=[
            leave_group.MemberResponse(
                member_id=each.leaver.member_id,
                group_instance_id=each.leaver.instance_id,
                error_code=_code(each.error),
            )
            for each in all_left
        ]
    )


def _code(error: LakestreamError | None) -> int:
    return KafkaError.NONE if error is None else kafka_error(error)[0]


def error_response(
    request: leave_group.Request, context: RequestContext, code: int, message: str
) -> leave_group.Response:
    return leave_group.Response(error_code=code, members=[])


API = Api(
    key=13,
    name="LeaveGroup",
    versions=(0, 5),
    needs=(Need(Operation.READ, ResourceType.GROUP),),
    handle=handle,
    error_response=error_response,
)
