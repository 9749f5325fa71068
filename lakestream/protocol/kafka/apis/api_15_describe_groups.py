"""DescribeGroups (15), versions 0-6: a classic group's phase, protocol and members.

- A group that does not exist, or is one of the newer protocol, is "Dead"; from v6 on with GROUP_ID_NOT_FOUND.
- Subscriptions and assignments are shown while the group is stable.

v3 authorized operations. v4 static members. v5 flexible. v6 error messages.
"""

from __future__ import annotations

from lakestream.broker.groups.describe import DEAD, ClassicDescription
from lakestream.broker.groups.errors import GroupNotFound
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import describe_groups
from lakestream.world.turns import in_turns

NOT_FOUND_FROM_VERSION = 6


async def handle(request: describe_groups.Request, context: RequestContext) -> describe_groups.Response:
    wanted = request.include_authorized_operations
    return describe_groups.Response(
        groups=[
            await _group(name, _operations(name, context, wanted=wanted), context)
            async for name in in_turns(request.groups)
        ]
    )


def _operations(name: str, context: RequestContext, *, wanted: bool) -> int:
    return authorized(context.access, ResourceType.GROUP, name) if wanted else NOT_ASKED


async def _group(name: str, operations: int, context: RequestContext) -> describe_groups.DescribedGroup:
    broker = context.broker
    try:
        described = await broker.groups.administration.describe_classic(name)
    except GroupNotFound as error:
        told = kafka_error(error) if context.api_version >= NOT_FOUND_FROM_VERSION else (KafkaError.NONE, None)
        return _without_members(name, DEAD, operations, *told)
    except LakestreamError as error:
        return _without_members(name, "", operations, *kafka_error(error))
    return _described(described, operations)


def _described(group: ClassicDescription, operations: int) -> describe_groups.DescribedGroup:
    return describe_groups.DescribedGroup(
        group_id=group.group,
        group_state=group.phase,
        protocol_type=group.protocol_type,
        protocol_data=group.protocol,
        authorized_operations=operations,
        members=[
            describe_groups.DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in group.members
        ],
    )


def _without_members(
    name: str, phase: str, operations: int, code: int, message: str | None
) -> describe_groups.DescribedGroup:
    return describe_groups.DescribedGroup(
        group_id=name,
        error_code=code,
        error_message=message,
        group_state=phase,
        protocol_type="",
        protocol_data="",
        members=[],
        authorized_operations=operations,
    )


def error_response(
    request: describe_groups.Request, context: RequestContext, code: int, message: str
) -> describe_groups.Response:
    return describe_groups.Response(
        groups=[_without_members(name, "", NOT_ASKED, code, message) for name in request.groups]
    )


API = Api(
    key=15,
    name="DescribeGroups",
    versions=(0, 6),
    needs=(Need(Operation.DESCRIBE, ResourceType.GROUP),),
    handle=handle,
    error_response=error_response,
)
