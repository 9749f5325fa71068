"""DescribeProducers (61), version 0: the producers of a partition, and where their open transactions began.

- Producers that were idle for a day are forgotten, as everywhere. The coordinator epoch is always 0.
"""

from __future__ import annotations

from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import describe_producers
from lakestream.world.turns import in_turns

NO_TRANSACTION = -1


async def handle(request: describe_producers.Request, context: RequestContext) -> describe_producers.Response:
    lookup = TopicLookup(context.broker.directory)
    topics = []
    for topic in request.topics:
        partitions = [
            await _partition(topic.name, index, lookup, context) async for index in in_turns(topic.partition_indexes)
        ]
        topics.append(describe_producers.TopicResponse(name=topic.name, partitions=partitions))
    return describe_producers.Response(topics=topics)


async def _partition(
    name: str, index: int, lookup: TopicLookup, context: RequestContext
) -> describe_producers.PartitionResponse:
    try:
        _, partition = await lookup.partition(name, NO_TOPIC_ID, index)
        active = await context.broker.transactions.active_producers(partition)
    except LakestreamError as error:
        return _failed(index, *kafka_error(error))
    return describe_producers.PartitionResponse(
        partition_index=index,
        active_producers=[
            describe_producers.ProducerState(
                producer_id=each.producer.producer_id,
                producer_epoch=each.producer.epoch,
                last_sequence=each.last_sequence,
                last_timestamp=each.written_ms,
                current_txn_start_offset=NO_TRANSACTION if each.first_offset is None else each.first_offset,
            )
            for each in active
        ],
    )


def _failed(index: int, code: int, message: str) -> describe_producers.PartitionResponse:
    return describe_producers.PartitionResponse(partition_index=index, error_code=code, error_message=message)


def error_response(
    request: describe_producers.Request, context: RequestContext, code: int, message: str
) -> describe_producers.Response:
    return describe_producers.Response(
        topics=[
            describe_producers.TopicResponse(
                name=topic.name, partitions=[_failed(index, code, message) for index in topic.partition_indexes]
            )
            for topic in request.topics
        ]
    )


API = Api(
    key=61,
    name="DescribeProducers",
    versions=(0, 0),
    needs=(Need(Operation.READ, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)
