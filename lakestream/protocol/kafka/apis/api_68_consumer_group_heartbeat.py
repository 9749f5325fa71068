"""ConsumerGroupHeartbeat (68), versions 0-1: everything a member of the newer group protocol (KIP-848) does.

- Epoch 0 joins, -1 leaves, -2 leaves for a while (static members), above 0 stays. A null field is unchanged.
- The coordinator assigns: `uniform` (the default) or `range`. A member gets its assignment when it changes, releases
  the partitions it no longer has, reports that, and then gets the partitions that others have released.
- Regular expressions are RE2's and match whole names.

v1 member ids are made by the member, and subscription by regular expression.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakestream.broker.broker import Broker
from lakestream.broker.groups.asks import ConsumerHeartbeatAsk
from lakestream.broker.groups.member_ids import consumer_member_id
from lakestream.broker.groups.saved.state import JOINING_EPOCH, Assignment
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_client import client_of
from lakestream.protocol.kafka.apis.group_topics import by_topic
from lakestream.protocol.kafka.wire.generated import consumer_group_heartbeat as heartbeat

MEMBER_ID_FROM_VERSION = 1
UNCHANGED_MS = -1


async def handle(request: heartbeat.Request, context: RequestContext) -> heartbeat.Response:
    broker = context.broker
    answer = await broker.groups.coordinator.consumer_heartbeat(_ask(request, context, broker))
    return heartbeat.Response(
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval=answer.heartbeat_interval_ms,
        assignment=None if answer.assignment is None else _assignment(answer.assignment),
    )


def _ask(request: heartbeat.Request, context: RequestContext, broker: Broker) -> ConsumerHeartbeatAsk:
    makes_own_id = context.api_version >= MEMBER_ID_FROM_VERSION
    given_id = not makes_own_id and not request.member_id and request.member_epoch == JOINING_EPOCH
    topics = request.subscribed_topic_names
    return ConsumerHeartbeatAsk(
        group=request.group_id,
        member_id=consumer_member_id(broker.groups.ids) if given_id else request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack=request.rack_id,
        client=client_of(context),
        rebalance_timeout_ms=None if request.rebalance_timeout == UNCHANGED_MS else request.rebalance_timeout,
        topics=None if topics is None else frozenset(topics),
        regex=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None if request.topic_partitions is None else _owned(request.topic_partitions),
        member_id_required=makes_own_id,
    )


def _owned(topics: Sequence[heartbeat.request.TopicPartitions]) -> Assignment:
    return frozenset(TopicPartition(bytes(each.topic_id), number) for each in topics for number in each.partitions)


def _assignment(assignment: Assignment) -> heartbeat.Assignment:
    return heartbeat.Assignment(
        topic_partitions=[
            heartbeat.TopicPartitions(topic_id=topic, partitions=numbers)
            for topic, numbers in by_topic(assignment).items()
        ]
    )


def error_response(request: heartbeat.Request, context: RequestContext, code: int, message: str) -> heartbeat.Response:
    return heartbeat.Response(error_code=code, error_message=message)


API = Api(
    key=68,
    name="ConsumerGroupHeartbeat",
    versions=(0, 1),
    needs=(
        Need(Operation.READ, ResourceType.GROUP),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="topics subscribed to by name"),
    ),
    handle=handle,
    error_response=error_response,
)
