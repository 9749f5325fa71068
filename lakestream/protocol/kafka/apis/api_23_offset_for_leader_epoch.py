"""OffsetForLeaderEpoch (23), versions 2-4: where a leader epoch ended, so that a consumer notices a truncated log.

- There is one epoch, 0, and logs are never truncated, so it ends at the end of the log. A later epoch never existed and
  has no end (-1, -1).
- The end is read from the store, because a client reports data loss if the end lies before its own position.

v4 flexible.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.leader_epoch import LEADER_EPOCH, check_leader_epoch
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import offset_for_leader_epoch as epochs
from lakestream.world.turns import in_turns


async def handle(request: epochs.Request, context: RequestContext) -> epochs.Response:
    lookup = TopicLookup(context.broker.directory)
    return epochs.Response(
        topics=[
            epochs.OffsetForLeaderTopicResult(
                topic=topic.topic,
                partitions=[
                    await _end(topic.topic, part, lookup, context.broker) async for part in in_turns(topic.partitions)
                ],
            )
            async for topic in in_turns(request.topics)
        ]
    )


async def _end(
    name: str, part: epochs.request.OffsetForLeaderPartition, lookup: TopicLookup, broker: Broker
) -> epochs.EpochEndOffset:
    try:
        _, partition = await lookup.partition(name, NO_TOPIC_ID, part.partition)
        check_leader_epoch(part.current_leader_epoch)
        tail = await broker.offsets.tail(partition)
    except LakestreamError as error:
        return _failed(part, kafka_error(error)[0])
    if part.leader_epoch > LEADER_EPOCH:
        return epochs.EpochEndOffset(partition=part.partition)
    return epochs.EpochEndOffset(partition=part.partition, leader_epoch=LEADER_EPOCH, end_offset=tail.next_offset)


def _failed(part: epochs.request.OffsetForLeaderPartition, code: int) -> epochs.EpochEndOffset:
    return epochs.EpochEndOffset(partition=part.partition, error_code=code)


def error_response(request: epochs.Request, context: RequestContext, code: int, message: str) -> epochs.Response:
    return epochs.Response(
        topics=[
            epochs.OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=[_failed(part, code) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=23,
    name="OffsetForLeaderEpoch",
    versions=(2, 4),
    needs=(Need(Operation.CLUSTER_ACTION, ResourceType.CLUSTER, or_else=Need(Operation.DESCRIBE, ResourceType.TOPIC)),),
    handle=handle,
    error_response=error_response,
)
