"""DescribeCluster (60), versions 0-2: the cluster's id and its live brokers.

- The named controller is a live broker, the same one at every broker. Every broker accepts administrative requests.
  There are no separate controllers to ask for.
- A broker whose lease has run out is gone, not fenced: asking for fenced ones adds none.

v1 endpoint types. v2 fenced brokers.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.operations import NOT_ASKED, authorized
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.wire.generated import describe_cluster

BROKERS, CONTROLLERS = 1, 2


async def handle(request: describe_cluster.Request, context: RequestContext) -> describe_cluster.Response:
    _check_endpoints(request.endpoint_type)
    broker = context.broker
    return describe_cluster.Response(
        cluster_id=broker.cluster.cluster_id,
        controller_id=broker.cluster.controller_id(),
        brokers=[
            describe_cluster.DescribeClusterBroker(broker_id=each.id, host=each.host, port=each.port, rack=each.rack)
            for each in broker.cluster.live()
        ],
        cluster_authorized_operations=authorized(context.access, ResourceType.CLUSTER)
        if request.include_cluster_authorized_operations
        else NOT_ASKED,
    )


def _check_endpoints(endpoint_type: int) -> None:
    if endpoint_type == CONTROLLERS:
        raise Refused(KafkaError.MISMATCHED_ENDPOINT_TYPE, "this is a broker, and there are no controllers beside them")
    if endpoint_type != BROKERS:
        raise Refused(
            KafkaError.UNSUPPORTED_ENDPOINT_TYPE, f"{endpoint_type} is no type of endpoint: ask for 1, brokers"
        )


def error_response(
    request: describe_cluster.Request, context: RequestContext, code: int, message: str
) -> describe_cluster.Response:
    return describe_cluster.Response(error_code=code, error_message=message)


API = Api(
    key=60,
    name="DescribeCluster",
    versions=(0, 2),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
