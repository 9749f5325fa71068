"""DescribeTopicPartitions (75), version 0: topics and their partitions, a page at a time.

- Topics come in the order of their names; an empty request means all. A page holds at most `response_partition_limit`
  partitions, and the cursor marks the start of the next one.
- Leaders are named as by Metadata. Lists of eligible leaders are empty, never null: Java tools fail on null.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.leaders import leader_ids, near, zone_of_client
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.broker import BrokerId
from lakestream.model.errors import InvalidRequest, InvalidTopicName, LakestreamError, UnknownTopic
from lakestream.model.topic import Topic, topic_name_problem
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.leader_epoch import LEADER_EPOCH
from lakestream.protocol.kafka.apis.operations import authorized
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import describe_topic_partitions as describe
from lakestream.world.turns import in_turns

PAGE_PARTITIONS_MAX = 2_000
"""Like Kafka's max.request.partition.size.limit."""


async def handle(request: describe.Request, context: RequestContext) -> describe.Response:
    broker = context.broker
    await broker.directory.refresh()
    leaders = tuple(each.id for each in near(broker.cluster.live(), zone_of_client(context.client_id)))
    left = min(max(request.response_partition_limit, 1), PAGE_PARTITIONS_MAX)
    topics: list[describe.DescribeTopicPartitionsResponseTopic] = []
    async for name, first in in_turns(_places(request, broker)):
        if not left:
            return describe.Response(topics=topics, next_cursor=_cursor(name, first))
        try:
            topic = _known(name, broker)
        except LakestreamError as error:
            topics.append(_failed(name, kafka_error(error)[0]))
            continue
        end = min(first + left, len(topic.partitions))
        topics.append(_page(topic, range(first, end), leaders, context))
        left -= len(range(first, end))
        if end < len(topic.partitions):
            return describe.Response(topics=topics, next_cursor=_cursor(name, end))
    return describe.Response(topics=topics)


def _places(request: describe.Request, broker: Broker) -> list[tuple[str, int]]:
    """Topic names in order, each with its first wanted partition, from the cursor on."""
    names = {topic.name for topic in request.topics} or {entry.topic.name for entry in broker.directory.all()}
    cursor = request.cursor
    if cursor is None:
        return [(name, 0) for name in sorted(names)]
    if cursor.partition_index < 0:
        raise InvalidRequest(
            f"the cursor stands at partition {cursor.partition_index}; send back the one you were given"
        )
    return [
        (name, cursor.partition_index if name == cursor.topic_name else 0)
        for name in sorted(names)
        if name >= cursor.topic_name
    ]


def _known(name: str, broker: Broker) -> Topic:
    entry = broker.directory.known(name)
    if entry is not None:
        return entry.topic
    if (problem := topic_name_problem(name)) is not None:
        raise InvalidTopicName(problem)
    raise UnknownTopic(f"there is no topic '{name}'")


def _page(
    topic: Topic, indexes: range, brokers: tuple[BrokerId, ...], context: RequestContext
) -> describe.DescribeTopicPartitionsResponseTopic:
    leaders = leader_ids(topic.id, len(topic.partitions), brokers)
    return describe.DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        topic_authorized_operations=authorized(context.access, ResourceType.TOPIC, topic.name),
        partitions=[
            describe.DescribeTopicPartitionsResponsePartition(
                partition_index=index,
                leader_id=leaders[index],
                leader_epoch=LEADER_EPOCH,
                replica_nodes=[leaders[index]],
                isr_nodes=[leaders[index]],
                eligible_leader_replicas=[],
                last_known_elr=[],
            )
            for index in indexes
        ],
    )


def _cursor(name: str, first: int) -> describe.Cursor:
    return describe.Cursor(topic_name=name, partition_index=first)


def _failed(name: str, code: int) -> describe.DescribeTopicPartitionsResponseTopic:
    return describe.DescribeTopicPartitionsResponseTopic(name=name, error_code=code)


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(topics=[_failed(topic.name, code) for topic in request.topics])


API = Api(
    key=75,
    name="DescribeTopicPartitions",
    versions=(0, 0),
    needs=(Need(Operation.DESCRIBE, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)
