"""AlterReplicaLogDirs (34), versions 1-2: accepted where it changes nothing.

- Every broker has one directory, `lakestream`, which stands for the object store. To move a partition there is to leave
  it where it is; any other directory is LOG_DIR_NOT_FOUND.

v2 flexible.
"""

from __future__ import annotations

from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.api_35_describe_log_dirs import LOG_DIR
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import alter_replica_log_dirs as alter
from lakestream.world.turns import in_turns


async def handle(request: alter.Request, context: RequestContext) -> alter.Response:
    lookup = TopicLookup(context.broker.directory)
    results: dict[str, list[alter.AlterReplicaLogDirPartitionResult]] = {}
    for directory in request.dirs:
        for topic in directory.topics:
            answered = results.setdefault(topic.name, [])
            async for number in in_turns(topic.partitions):
                code = await _code(lookup, directory.path, topic.name, number)
                answered.append(alter.AlterReplicaLogDirPartitionResult(partition_index=number, error_code=code))
    return alter.Response(
        results=[
            alter.AlterReplicaLogDirTopicResult(topic_name=name, partitions=partitions)
            for name, partitions in results.items()
        ]
    )


async def _code(lookup: TopicLookup, path: str, topic: str, number: int) -> int:
    try:
        await lookup.partition(topic, NO_TOPIC_ID, number)
    except LakestreamError as error:
        return kafka_error(error)[0]
    return KafkaError.NONE if path.strip("/") == LOG_DIR else KafkaError.LOG_DIR_NOT_FOUND


def error_response(request: alter.Request, context: RequestContext, code: int, message: str) -> alter.Response:
    return alter.Response(
        results=[
            alter.AlterReplicaLogDirTopicResult(
                topic_name=topic.name,
                partitions=[
                    alter.AlterReplicaLogDirPartitionResult(partition_index=number, error_code=code)
                    for number in topic.partitions
                ],
            )
            for directory in request.dirs
            for topic in directory.topics
        ]
    )


API = Api(
    key=34,
    name="AlterReplicaLogDirs",
    versions=(1, 2),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
