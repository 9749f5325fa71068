"""AlterShareGroupOffsets (91), version 0: let a share group without members go on at other offsets.

- All partitions of a request change in one transaction. Locks and counts of deliveries of these partitions are gone.
- An offset outside of the log is OFFSET_OUT_OF_RANGE: the group would have to guess where to begin.
"""

from __future__ import annotations

from lakestream.broker.topic_lookup import TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError, OffsetOutOfRange, UnknownPartition
from lakestream.model.group import TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import alter_share_group_offsets as alter
from lakestream.world.turns import in_turns


async def handle(request: alter.Request, context: RequestContext) -> alter.Response:
    broker = context.broker
    lookup = TopicLookup(broker.directory)
    starts: dict[TopicPartition, int] = {}
    partitions: dict[PartitionId, alter.AlterShareGroupOffsetsResponsePartition] = {}
    places: dict[PartitionId, tuple[TopicPartition, int]] = {}
    responses = []
    for topic in request.topics:
        answered: list[alter.AlterShareGroupOffsetsResponsePartition] = []
        response = alter.AlterShareGroupOffsetsResponseTopic(topic_name=topic.topic_name, partitions=answered)
        responses.append(response)
        async for part in in_turns(topic.partitions):
            slot = alter.AlterShareGroupOffsetsResponsePartition(partition_index=part.partition_index)
            answered.append(slot)
            try:
                entry, partition = await lookup.partition(topic.topic_name, response.topic_id, part.partition_index)
            except LakestreamError as error:
                slot.error_code, slot.error_message = kafka_error(error)
                continue
            partitions[partition] = slot
            places[partition] = TopicPartition(entry.topic.id, part.partition_index), part.start_offset
    tails = await broker.offsets.tails(list(places)) if places else {}
    for partition, (place, start) in places.items():
        tail, slot = tails.get(partition), partitions[partition]
        if tail is None:
            slot.error_code, slot.error_message = kafka_error(UnknownPartition("the partition was deleted"))
        elif not tail.log_start <= start <= tail.next_offset:
            outside = OffsetOutOfRange(f"{start} is outside [{tail.log_start}, {tail.next_offset}] of the partition")
            slot.error_code, slot.error_message = kafka_error(outside)
        else:
            starts[place] = start
    await broker.shares.offsets.reset(request.group_id, starts)
    return alter.Response(responses=responses)


def error_response(request: alter.Request, context: RequestContext, code: int, message: str) -> alter.Response:
    return alter.Response(
        error_code=code,
        error_message=message,
        responses=[
            alter.AlterShareGroupOffsetsResponseTopic(
                topic_name=topic.topic_name,
                partitions=[
                    alter.AlterShareGroupOffsetsResponsePartition(
                        partition_index=part.partition_index, error_code=code, error_message=message
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


API = Api(
    key=91,
    name="AlterShareGroupOffsets",
    versions=(0, 0),
    needs=(Need(Operation.READ, ResourceType.GROUP), Need(Operation.READ, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)
