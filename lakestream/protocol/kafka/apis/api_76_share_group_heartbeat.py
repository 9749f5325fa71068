"""ShareGroupHeartbeat (76), version 1: everything a member of a share group (KIP-932) does, but for reading.

- Epoch 0 joins, -1 leaves, above 0 stays. A null list of topics is unchanged. Members choose their own ids.
- The coordinator gives every partition at least one member. With more members than partitions, some share one.
- A name that a group of another kind has, or that has committed offsets, is no share group (GROUP_ID_NOT_FOUND).

v0 was an early access version of Apache Kafka 4.0, and is not served.
"""

from __future__ import annotations

from lakestream.broker.groups.asks import ShareHeartbeatAsk
from lakestream.broker.groups.saved.state import Assignment
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_client import client_of
from lakestream.protocol.kafka.apis.group_topics import by_topic
from lakestream.protocol.kafka.wire.generated import share_group_heartbeat as heartbeat


async def handle(request: heartbeat.Request, context: RequestContext) -> heartbeat.Response:
    topics = request.subscribed_topic_names
    ask = ShareHeartbeatAsk(
        group=request.group_id,
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        rack=request.rack_id,
        client=client_of(context),
        topics=None if topics is None else frozenset(topics),
    )
    answer = await context.broker.groups.coordinator.share_heartbeat(ask)
    return heartbeat.Response(
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval=answer.heartbeat_interval_ms,
        assignment=None if answer.assignment is None else _assignment(answer.assignment),
    )


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
    key=76,
    name="ShareGroupHeartbeat",
    versions=(1, 1),
    needs=(
        Need(Operation.READ, ResourceType.GROUP),
        Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="topics subscribed to by name"),
    ),
    handle=handle,
    error_response=error_response,
)
