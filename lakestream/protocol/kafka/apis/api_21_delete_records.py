"""DeleteRecords (21), versions 0-2: raise the start of a partition.

- Offset -1 means the end of the log: everything that is there now. The answer's low watermark is the new start.
- Once this is answered, records below it cannot be read here, and at other brokers a second later at most. An offset
  above the end is refused.

v2 flexible.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import delete_records
from lakestream.world.turns import in_turns

NO_OFFSET = -1


async def handle(request: delete_records.Request, context: RequestContext) -> delete_records.Response:
    lookup = TopicLookup(context.broker.directory)
    return delete_records.Response(
        topics=[
            delete_records.DeleteRecordsTopicResult(
                name=topic.name,
                partitions=[
                    await _delete(topic.name, part, lookup, context.broker) async for part in in_turns(topic.partitions)
                ],
            )
            async for topic in in_turns(request.topics)
        ]
    )


async def _delete(
    name: str, part: delete_records.request.DeleteRecordsPartition, lookup: TopicLookup, broker: Broker
) -> delete_records.DeleteRecordsPartitionResult:
    try:
        entry, _ = await lookup.partition(name, NO_TOPIC_ID, part.partition_index)
        log_start = await broker.topics.delete_records(entry, part.partition_index, part.offset)
    except LakestreamError as error:
        return _failed(part, kafka_error(error)[0])
    return delete_records.DeleteRecordsPartitionResult(partition_index=part.partition_index, low_watermark=log_start)


def _failed(
    part: delete_records.request.DeleteRecordsPartition, code: int
) -> delete_records.DeleteRecordsPartitionResult:
    return delete_records.DeleteRecordsPartitionResult(
        partition_index=part.partition_index, low_watermark=NO_OFFSET, error_code=code
    )


def error_response(
    request: delete_records.Request, context: RequestContext, code: int, message: str
) -> delete_records.Response:
    return delete_records.Response(
        topics=[
            delete_records.DeleteRecordsTopicResult(
                name=topic.name, partitions=[_failed(part, code) for part in topic.partitions]
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=21,
    name="DeleteRecords",
    versions=(0, 2),
    needs=(Need(Operation.DELETE, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)
