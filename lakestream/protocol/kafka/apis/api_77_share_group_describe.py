"""ShareGroupDescribe (77), version 1: a share group, its members, and which partitions each of them reads.

- A group that does not exist, or is of another kind, gets GROUP_ID_NOT_FOUND.
- The assignment follows from the members and the topics at once, so its epoch is always the group's.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.directory import Directory
from lakestream.broker.groups.describe import ShareDescription, ShareMemberDescription
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_topics import named_by_topic
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import share_group_describe as describe
from lakestream.world.turns import in_turns


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
        described = await broker.groups.administration.describe_share(name)
    except LakestreamError as error:
        return _failed(name, operations, *kafka_error(error))
    return _described(described, operations, broker.directory)


def _described(group: ShareDescription, operations: int, directory: Directory) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=group.group,
        group_state=group.phase,
        group_epoch=group.epoch,
        assignment_epoch=group.epoch,
        assignor_name=group.assignor,
        members=[_member(each, directory) for each in group.members],
        authorized_operations=operations,
    )


def _member(described: ShareMemberDescription, directory: Directory) -> describe.Member:
    member = described.member
    return describe.Member(
        member_id=member.id,
        rack_id=member.rack,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        assignment=describe.Assignment(
            topic_partitions=[
                describe.TopicPartitions(topic_id=topic, topic_name=name, partitions=numbers)
                for topic, name, numbers in named_by_topic(described.assigned, directory)
            ]
        ),
    )


def _failed(name: str, operations: int, code: int, message: str) -> describe.DescribedGroup:
    return describe.DescribedGroup(
        group_id=name, error_code=code, error_message=message, members=[], authorized_operations=operations
    )


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(groups=[_failed(name, NOT_ASKED, code, message) for name in request.group_ids])


API = Api(
    key=77,
    name="ShareGroupDescribe",
    versions=(1, 1),
    needs=(
        Need(Operation.DESCRIBE, ResourceType.GROUP),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="topics assigned to members"),
    ),
    handle=handle,
    error_response=error_response,
)
