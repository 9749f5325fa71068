"""DescribeShareGroupOffsets (90), versions 0-1: how far a share group is in each partition.

- The offset is the first one that is not done. It is -1 where the group has not read yet.
- A request without topics gets all partitions that the group has read.

v1 lag: how many offsets up to the log's end are not done. Records that others have finished before slower ones do not
count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakestream.broker.broker import Broker
from lakestream.broker.directory import TopicEntry
from lakestream.metadata.share_partition import ShareProgress
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError, UnknownTopic
from lakestream.model.group import TopicPartition
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.group_topics import by_topic
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import describe_share_group_offsets as describe
from lakestream.world.turns import in_turns

NONE = -1


async def handle(request: describe.Request, context: RequestContext) -> describe.Response:
    return describe.Response(groups=[await _group(each, context.broker) async for each in in_turns(request.groups)])


async def _group(
    asked: describe.request.DescribeShareGroupOffsetsRequestGroup, broker: Broker
) -> describe.DescribeShareGroupOffsetsResponseGroup:
    try:
        progress = await broker.shares.offsets.progress(asked.group_id)
    except LakestreamError as error:
        return _failed(asked.group_id, *kafka_error(error))
    if asked.topics is None:
        topics = _all_topics(progress, broker)
    else:
        topics = [await _topic(each, progress, broker) async for each in in_turns(asked.topics)]
    return describe.DescribeShareGroupOffsetsResponseGroup(group_id=asked.group_id, topics=topics)


def _all_topics(
    progress: Mapping[TopicPartition, ShareProgress], broker: Broker
) -> list[describe.DescribeShareGroupOffsetsResponseTopic]:
    known = [(broker.directory.known_id(topic), numbers) for topic, numbers in by_topic(progress).items()]
    return [_answered(entry, numbers, progress) for entry, numbers in known if entry is not None]


async def _topic(
    asked: describe.request.DescribeShareGroupOffsetsRequestTopic,
    progress: Mapping[TopicPartition, ShareProgress],
    broker: Broker,
) -> describe.DescribeShareGroupOffsetsResponseTopic:
    try:
        entry = await broker.directory.find(asked.topic_name)
    except UnknownTopic as error:
        code, message = kafka_error(error)
        return describe.DescribeShareGroupOffsetsResponseTopic(
            topic_name=asked.topic_name,
            partitions=[
                describe.DescribeShareGroupOffsetsResponsePartition(
                    partition_index=number, start_offset=NONE, error_code=code, error_message=message
                )
                for number in asked.partitions
            ],
        )
    return _answered(entry, asked.partitions, progress)


def _answered(
    entry: TopicEntry, numbers: Iterable[int], progress: Mapping[TopicPartition, ShareProgress]
) -> describe.DescribeShareGroupOffsetsResponseTopic:
    return describe.DescribeShareGroupOffsetsResponseTopic(
        topic_name=entry.topic.name,
        topic_id=entry.topic.id,
        partitions=[_partition(number, progress.get(TopicPartition(entry.topic.id, number))) for number in numbers],
    )


def _partition(number: int, progress: ShareProgress | None) -> describe.DescribeShareGroupOffsetsResponsePartition:
    start = None if progress is None else progress.start_offset
    lag = None if progress is None else progress.lag
    return describe.DescribeShareGroupOffsetsResponsePartition(
        partition_index=number, start_offset=NONE if start is None else start, lag=NONE if lag is None else lag
    )


def _failed(group: str, code: int, message: str) -> describe.DescribeShareGroupOffsetsResponseGroup:
    return describe.DescribeShareGroupOffsetsResponseGroup(
        group_id=group, topics=[], error_code=code, error_message=message
    )


def error_response(request: describe.Request, context: RequestContext, code: int, message: str) -> describe.Response:
    return describe.Response(groups=[_failed(each.group_id, code, message) for each in request.groups])


API = Api(
    key=90,
    name="DescribeShareGroupOffsets",
    versions=(0, 1),
    needs=(Need(Operation.DESCRIBE, ResourceType.GROUP), Need(Operation.DESCRIBE, ResourceType.TOPIC)),
    handle=handle,
    error_response=error_response,
)
