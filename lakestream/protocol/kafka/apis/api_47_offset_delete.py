"""OffsetDelete (47), version 0: delete a group's committed offsets of some partitions.

- Partitions of topics that members read are refused with GROUP_SUBSCRIBED_TO_TOPIC; the others of the request are
  deleted.
- A group whose topics only its members know (not consumers) must be empty.
"""

from __future__ import annotations

from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_topics import AskedPartition, asked_partitions
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import offset_delete
from lakestream.world.turns import in_turns


async def handle(request: offset_delete.Request, context: RequestContext) -> offset_delete.Response:
    broker = context.broker
    lookup = TopicLookup(broker.directory)
    asked = [
        (topic.name, await asked_partitions(lookup, topic.name, NO_TOPIC_ID, topic.partitions))
        async for topic in in_turns(request.topics)
    ]
    partitions = {found: name for name, parts in asked for _, found in parts if not isinstance(found, LakestreamError)}
    try:
        refused = await broker.groups.administration.delete_offsets(request.group_id, partitions)
    except LakestreamError as error:  # about the group: Kafka names no topics then
        return offset_delete.Response(error_code=kafka_error(error)[0], topics=[])
    return offset_delete.Response(
        topics=[
            offset_delete.OffsetDeleteResponseTopic(name=name, partitions=[_answer(part, refused) for part in parts])
            for name, parts in asked
        ]
    )


def _answer(
    asked: AskedPartition[offset_delete.request.OffsetDeleteRequestPartition],
    refused: dict[TopicPartition, LakestreamError],
) -> offset_delete.OffsetDeleteResponsePartition:
    error = asked.found if isinstance(asked.found, LakestreamError) else refused.get(asked.found)
    code = KafkaError.NONE if error is None else kafka_error(error)[0]
    return offset_delete.OffsetDeleteResponsePartition(partition_index=asked.part.partition_index, error_code=code)


def error_response(
    request: offset_delete.Request, context: RequestContext, code: int, message: str
) -> offset_delete.Response:
    return offset_delete.Response(
        error_code=code,
        topics=[
            offset_delete.OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    offset_delete.OffsetDeleteResponsePartition(partition_index=part.partition_index, error_code=code)
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


API = Api(
    key=47,
    name="OffsetDelete",
    versions=(0, 0),
    needs=(Need(Operation.DELETE, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)
