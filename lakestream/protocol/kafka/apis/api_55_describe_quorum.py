"""DescribeQuorum (55), versions 0-2: the metadata store, shown as a quorum of one.

- The store's one voter bears the id of the broker that Metadata names as the controller. Its offset is the version of
  the topics, the one number of the store that always rises.
- Brokers are not observers: they keep no copy of the metadata that could fall behind.

v1 times of fetches, which are now. v2 directories and endpoints.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire.generated import describe_quorum

METADATA_TOPIC = "__cluster_metadata"
NODES_FROM_VERSION = 2


async def handle(request: describe_quorum.Request, context: RequestContext) -> describe_quorum.Response:
    broker = context.broker
    now_ms, version = await broker.store.now_ms(), await broker.store.topics_version()
    return describe_quorum.Response(
        topics=[
            describe_quorum.TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _partition(broker, part.partition_index, version, now_ms)
                    if topic.topic_name == METADATA_TOPIC and part.partition_index == 0
                    else describe_quorum.PartitionData(
                        partition_index=part.partition_index, error_code=KafkaError.UNKNOWN_TOPIC_OR_PARTITION
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.topics
        ],
        nodes=_nodes(broker) if context.api_version >= NODES_FROM_VERSION else [],
    )


def _partition(broker: Broker, number: int, version: int, now_ms: int) -> describe_quorum.PartitionData:
    leader = broker.cluster.controller_id()
    voter = describe_quorum.ReplicaState(
        replica_id=leader, log_end_offset=version, last_fetch_timestamp=now_ms, last_caught_up_timestamp=now_ms
    )
    return describe_quorum.PartitionData(
        partition_index=number, leader_id=leader, high_watermark=version, current_voters=[voter]
    )


def _nodes(broker: Broker) -> list[describe_quorum.Node]:
    leader = broker.cluster.controller_id()
    return [
        describe_quorum.Node(
            node_id=each.id, listeners=[describe_quorum.Listener(name="KAFKA", host=each.host, port=each.port)]
        )
        for each in broker.cluster.live()
        if each.id == leader
    ]


def error_response(
    request: describe_quorum.Request, context: RequestContext, code: int, message: str
) -> describe_quorum.Response:
    return describe_quorum.Response(error_code=code, error_message=message, topics=[])


API = Api(
    key=55,
    name="DescribeQuorum",
    versions=(0, 2),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
