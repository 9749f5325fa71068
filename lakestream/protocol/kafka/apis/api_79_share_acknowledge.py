"""ShareAcknowledge (79), versions 1-2: what a member of a share group made of the records that it holds.

- Types are 0 (no record at this offset), 1 accept, 2 release, 3 reject, 4 renew. All acknowledgements of a partition
  count, or none: INVALID_RECORD_STATE if the member does not hold one of the locks any more.
- A released record is available at once, unless it was delivered `share.delivery.count.limit` times.
- The session must exist; epoch -1 ends it and gives back what the member holds.

v2 renewal of locks (KIP-1222), if `share.renew.acknowledge.enable` allows it. v0 was an early access version, and is
not served.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakestream.broker.shares.sessions import END
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.share_requests import (
    NO_LEADER,
    asked_shares,
    may_renew,
    of_session,
    places_by_topic,
    session_at,
    session_key,
)
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import share_acknowledge as acknowledge


async def handle(request: acknowledge.Request, context: RequestContext) -> acknowledge.Response:
    broker = context.broker
    key = session_key(request.group_id, request.member_id)
    config = broker.groups.configs.share(key.group)
    asked = await asked_shares(request.topics, broker, renews=may_renew(config, context.api_version))
    session = session_at(broker, key, request.share_session_epoch, may_begin=False)
    outcomes: dict[TopicPartition, LakestreamError | None] = {**asked.unknown, **asked.refused}
    if asked.acknowledged:
        outcomes |= await broker.shares.serving.acknowledge(
            key.group, key.member, asked.acknowledged_partitions, asked.acknowledged, config
        )
    if request.share_session_epoch == END:
        readable, _ = of_session(session.partitions, context)
        await broker.shares.serving.give_back(key.group, key.member, readable, config)
    return acknowledge.Response(responses=_answers(outcomes), acquisition_lock_timeout=config.lock_ms)


def _answers(
    outcomes: Mapping[TopicPartition, LakestreamError | None],
) -> list[acknowledge.ShareAcknowledgeTopicResponse]:
    return [
        acknowledge.ShareAcknowledgeTopicResponse(
            topic_id=topic, partitions=[_answer(place, outcomes[place]) for place in places]
        )
        for topic, places in places_by_topic(outcomes).items()
    ]


def _answer(place: TopicPartition, error: LakestreamError | None) -> acknowledge.PartitionData:
    code, message = (0, None) if error is None else kafka_error(error)
    return acknowledge.PartitionData(
        partition_index=place.number,
        error_code=code,
        error_message=message,
        current_leader=acknowledge.LeaderIdAndEpoch(leader_id=NO_LEADER, leader_epoch=NO_LEADER),
    )


def error_response(
    request: acknowledge.Request, context: RequestContext, code: int, message: str
) -> acknowledge.Response:
    return acknowledge.Response(
        error_code=code,
        error_message=message,
        responses=[
            acknowledge.ShareAcknowledgeTopicResponse(
                topic_id=topic.topic_id,
                partitions=[
                    acknowledge.PartitionData(
                        partition_index=part.partition_index, error_code=code, error_message=message
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


API = Api(
    key=79,
    name="ShareAcknowledge",
    versions=(1, 2),
    needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)
