"""AlterPartitionReassignments (45), versions 0-1: accepted where it changes nothing.

- A partition's replica is the leader that Metadata names, and it follows from the live brokers. A request for just that
  replica is fulfilled already; any other is INVALID_REPLICA_ASSIGNMENT.
- To cancel a reassignment is NO_REASSIGNMENT_IN_PROGRESS: there never is one.

v1 changes of the replication factor, which is always 1.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.broker.leaders import leader_ids
from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused, kafka_error
from lakestream.protocol.kafka.wire.generated import alter_partition_reassignments as reassignments
from lakestream.world.turns import in_turns


async def handle(request: reassignments.Request, context: RequestContext) -> reassignments.Response:
    lookup = TopicLookup(context.broker.directory)
    return reassignments.Response(
        allow_replication_factor_change=request.allow_replication_factor_change,
        responses=[
            reassignments.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    await _answer(lookup, topic.name, part, context.broker) async for part in in_turns(topic.partitions)
                ],
            )
            for topic in request.topics
        ],
    )


async def _answer(
    lookup: TopicLookup, topic: str, asked: reassignments.request.ReassignablePartition, broker: Broker
) -> reassignments.ReassignablePartitionResponse:
    answer = reassignments.ReassignablePartitionResponse(partition_index=asked.partition_index)
    try:
        await _check(lookup, topic, asked, broker)
    except LakestreamError as error:
        answer.error_code, answer.error_message = kafka_error(error)
    return answer


async def _check(
    lookup: TopicLookup, topic: str, asked: reassignments.request.ReassignablePartition, broker: Broker
) -> None:
    """Raises if this would have to change something."""
    entry, _ = await lookup.partition(topic, NO_TOPIC_ID, asked.partition_index)
    if asked.replicas is None:
        raise Refused(KafkaError.NO_REASSIGNMENT_IN_PROGRESS, "nothing is being reassigned: there is nothing to cancel")
    live = tuple(each.id for each in broker.cluster.live())
    leader = leader_ids(entry.topic.id, len(entry.topic.partitions), live)[asked.partition_index]
    if list(asked.replicas) != [leader]:
        raise Refused(
            KafkaError.INVALID_REPLICA_ASSIGNMENT,
            f"partitions are not assigned to brokers: any broker serves any. The one that clients are told is {leader}",
        )


def error_response(
    request: reassignments.Request, context: RequestContext, code: int, message: str
) -> reassignments.Response:
    return reassignments.Response(error_code=code, error_message=message, responses=[])


API = Api(
    key=45,
    name="AlterPartitionReassignments",
    versions=(0, 1),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
