"""ElectLeaders (43), versions 0-2: never needed.

- Every partition that exists has a living leader, which is a hint: any broker serves it. So the answer is
  ELECTION_NOT_NEEDED for each, as Apache Kafka's for partitions whose leader is the preferred one.
- A request without topics asks for all partitions, and needs none.

v1 types of elections. v2 flexible.
"""

from __future__ import annotations

from lakestream.broker.topic_lookup import NO_TOPIC_ID, TopicLookup
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.errors import LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError, kafka_error
from lakestream.protocol.kafka.wire.generated import elect_leaders
from lakestream.world.turns import in_turns


async def handle(request: elect_leaders.Request, context: RequestContext) -> elect_leaders.Response:
    lookup = TopicLookup(context.broker.directory)
    return elect_leaders.Response(
        replica_election_results=[
            elect_leaders.ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    await _result(lookup, topic.topic, number) async for number in in_turns(topic.partitions)
                ],
            )
            for topic in request.topic_partitions or ()
        ]
    )


async def _result(lookup: TopicLookup, topic: str, number: int) -> elect_leaders.PartitionResult:
    try:
        await lookup.partition(topic, NO_TOPIC_ID, number)
    except LakestreamError as error:
        code, message = kafka_error(error)
    else:
        code, message = KafkaError.ELECTION_NOT_NEEDED, "any broker serves the partition: there is nothing to elect"
    return elect_leaders.PartitionResult(partition_id=number, error_code=code, error_message=message)


def error_response(
    request: elect_leaders.Request, context: RequestContext, code: int, message: str
) -> elect_leaders.Response:
    """Version 0 has no error of the whole request, so each partition gets it."""
    results = [
        elect_leaders.ReplicaElectionResult(
            topic=topic.topic,
            partition_result=[
                elect_leaders.PartitionResult(partition_id=number, error_code=code, error_message=message)
                for number in topic.partitions
            ],
        )
        for topic in request.topic_partitions or ()
    ]
    return elect_leaders.Response(error_code=code, replica_election_results=results)


API = Api(
    key=43,
    name="ElectLeaders",
    versions=(0, 2),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
