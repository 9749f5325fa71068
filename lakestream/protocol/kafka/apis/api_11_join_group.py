"""JoinGroup (11), versions 0-9: become, or remain, a member of a group, and wait for its next generation.

- The broker answers when all members have joined or their time is up. Later requests of the connection run meanwhile.
- From v4 on, a member without an id first gets one (MEMBER_ID_REQUIRED) and joins again with it, so that lost answers
  leave no ghost members.
- The leader gets the members' subscriptions and assigns their partitions with SyncGroup.
- `reason` is for people; the broker does not keep it.

v1 rebalance timeout; before, it is the session timeout. v4 two-step join. v5 static members. v6 flexible. v7 protocol
type and name may be null. v8 reason. v9 skip_assignment: the leader of a static group need not assign again.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.groups.asks import JoinAsk, Joined, JoinRefused
from lakestream.broker.groups.member_ids import classic_member_id
from lakestream.broker.groups.saved.state import ProtocolOffer
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_client import client_of
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import join_group

REBALANCE_TIMEOUT_FROM_VERSION = 1
MEMBER_ID_FROM_VERSION = 4
NULLS_FROM_VERSION = 7
SKIP_FROM_VERSION = 9
NO_GENERATION = -1


async def handle(request: join_group.Request, context: RequestContext) -> join_group.Response:
    broker = context.broker
    told = await broker.groups.coordinator.join(_ask(request, context, broker))
    if isinstance(told, JoinRefused):
        return _refused(told.member_id, kafka_error(told.error)[0], context.api_version)
    return _joined(told, context.api_version)


def _ask(request: join_group.Request, context: RequestContext, broker: Broker) -> JoinAsk:
    version, client = context.api_version, client_of(context)
    has_own = version >= REBALANCE_TIMEOUT_FROM_VERSION
    return JoinAsk(
        group=request.group_id,
        member_id=request.member_id,
        fresh_member_id=classic_member_id(broker.groups.ids, client.id, request.group_instance_id),
        instance_id=request.group_instance_id,
        client=client,
        session_timeout_ms=request.session_timeout,
        rebalance_timeout_ms=request.rebalance_timeout if has_own else request.session_timeout,
        protocol_type=request.protocol_type,
        offers=tuple(ProtocolOffer(each.name, bytes(each.metadata)) for each in request.protocols),
        needs_known_member_id=version >= MEMBER_ID_FROM_VERSION,
        can_skip_assignment=version >= SKIP_FROM_VERSION,
    )


def _joined(joined: Joined, api_version: int) -> join_group.Response:
    return join_group.Response(
        generation_id=joined.generation,
        protocol_type=joined.protocol_type,
        protocol_name=_nullable(joined.protocol, api_version),
        leader=joined.leader,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[
            join_group.JoinGroupResponseMember(
                member_id=member.member_id, group_instance_id=member.instance_id, metadata=member.metadata
            )
            for member in joined.members
        ],
    )


def _refused(member_id: str, code: int, api_version: int) -> join_group.Response:
    return join_group.Response(
        error_code=code,
        generation_id=NO_GENERATION,
        protocol_name=_nullable(None, api_version),
        leader="",
        member_id=member_id,
        members=[],
    )


def _nullable(text: str | None, api_version: int) -> str | None:
    return "" if text is None and api_version < NULLS_FROM_VERSION else text


def error_response(
    request: join_group.Request, context: RequestContext, code: int, message: str
) -> join_group.Response:
    return _refused(request.member_id, code, context.api_version)


API = Api(
    key=11,
    name="JoinGroup",
    versions=(0, 9),
    needs=(Need(Operation.READ, ResourceType.GROUP),),
    handle=handle,
    overlaps=True,
    error_response=error_response,
)
