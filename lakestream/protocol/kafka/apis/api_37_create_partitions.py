"""CreatePartitions (37), versions 0-3: add partitions to topics.

- The count is the new total and must be greater than the current one. Every requested topic is answered.
- An assignment must have one entry for each new partition, with a broker in each. The brokers are ignored, since any
  broker serves any partition.

v2 flexible. v3 allows THROTTLING_QUOTA_EXCEEDED.
"""

from __future__ import annotations

from collections import Counter

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import create_partitions
from lakestream.world.turns import in_turns


async def handle(request: create_partitions.Request, context: RequestContext) -> create_partitions.Response:
    counts = Counter(asked.name for asked in request.topics)
    once = {asked.name: asked for asked in request.topics}
    return create_partitions.Response(
        results=[
            await _grow(asked, counts[name], context.broker, validate_only=request.validate_only)
            async for name, asked in in_turns(once.items())
        ]
    )


async def _grow(
    asked: create_partitions.request.CreatePartitionsTopic, times: int, broker: Broker, *, validate_only: bool
) -> create_partitions.CreatePartitionsTopicResult:
    try:
        if times > 1:
            raise InvalidRequest(f"topic '{asked.name}' comes {times} times in the request; name it once")
        entry = await broker.directory.find(asked.name)
        _check_assignments(asked, asked.count - len(entry.topic.partitions))
        await broker.topics.add_partitions(entry, asked.count, validate_only=validate_only)
    except LakestreamError as error:
        return _answered(asked.name, *kafka_error(error))
    return _answered(asked.name)


def _check_assignments(asked: create_partitions.request.CreatePartitionsTopic, added: int) -> None:
    """Check the assignments. The verb refuses a count that does not grow."""
    if asked.assignments is None or added <= 0:
        return
    if len(asked.assignments) != added:
        raise _bad_assignment(
            f"{len(asked.assignments)} assignments for {added} new partitions: give one for each, or none at all"
        )
    if not all(each.broker_ids for each in asked.assignments):
        raise _bad_assignment("every new partition of an assignment names at least one broker")


def _bad_assignment(message: str) -> Refused:
    return Refused(KafkaError.INVALID_REPLICA_ASSIGNMENT, message)


def _answered(name: str, code: int = 0, message: str | None = None) -> create_partitions.CreatePartitionsTopicResult:
    return create_partitions.CreatePartitionsTopicResult(name=name, error_code=code, error_message=message)


def error_response(
    request: create_partitions.Request, context: RequestContext, code: int, message: str
) -> create_partitions.Response:
    names = dict.fromkeys(asked.name for asked in request.topics)
    return create_partitions.Response(results=[_answered(name, code, message) for name in names])


API = Api(
    key=37,
    name="CreatePartitions",
    versions=(0, 3),
    needs=(Need(Operation.ALTER, ResourceType.TOPIC),),
    handle=handle,
    error_response=error_response,
)
