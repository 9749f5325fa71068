"""ConsumerGroupDescribe (69), versions 0-1: a group of the newer protocol, its epochs, members and assignments.

- A group that does not exist, or is a classic one, gets GROUP_ID_NOT_FOUND; clients then ask by DescribeGroups.
- The answer shows both the current and the target assignment of a member. Members that speak the classic protocol are
  included.

v1 member types.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.directory import Directory
from lakestream.broker.groups.describe import ConsumerDescription, ConsumerMemberDescription
from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_topics import named_by_topic
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import consumer_group_describe as describe
from lakestream.world.turns import in_turns

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


async def handle(request: describe.Request, context: RequestContext) -> describe.Response:
    wanted = request.include_authorized_operations
    return describe.Response(
        groups=[
            await _group(name, _operations(name, context, wanted=wanted), context.broker)
            async for name in in_turns(request.group_ids)
        ]
    )


def _operations(name: str, context: RequestContext, *, wanted: bool) -> int:
    return authorized(context.access, ResourceType.GROUP, name) if wanted else NOT_ASKED


async def _group(name: str, operations: int, broker: Broker) -> describe.DescribedGroup:
    try:
        described = await broker.groups.administration.describe_consumer(name)
    except LakestreamError as error:
        return _failed(name, operations, *kafka_error(error))
    return _described(described, operations, broker.directory)


def _described(group: ConsumerDescription, operations: int, directory: Directory) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group.group,
        group_state=group.phase,
        group_epoch=group.epoch,
        assignment_epoch=group.target_epoch,
        assignor_name=group.assignor,
        members=[_member(each, directory) for each in group.members],
        authorized_operations=operations,
    )


def _member(described: ConsumerMemberDescription, directory: Directory) -> describe.Member:
    member = described.member
    return describe.Member(
        member_id=member.id,
        instance_id=member.instance_id,
        rack_id=member.rack,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex or None,
        assignment=_assignment(member.assigned, directory),
        target_assignment=_assignment(described.target, directory),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(assignment: Assignment, directory: Directory) -> describe.Assignment:
    return describe.Assignment(
        topic_partitions=[
            describe.TopicPartitions(topic_id=topic, topic_name=name, partitions=numbers)
            for topic, name, numbers in named_by_topic(assignment, directory)
        ]
    )


def _failed(name: str, operations: int, code: int, message: str) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=name,
        error_code=code,
        error_message=message,
        group_state="",
        assignor_name="",
        members=[],
        authorized_operations=operations,
    )


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(groups=[_failed(name, NOT_ASKED, code, message) for name in request.group_ids])


API = Api(
    key=69,
    name="ConsumerGroupDescribe",
    versions=(0, 1),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.GROUP),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="topics assigned to members"),
    ),
    handle=handle,
    error_response=error_response,
)
