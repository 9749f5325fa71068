"""ListPartitionReassignments (46), version 0: always none.

Partitions are not assigned to brokers, so nothing is being reassigned. `kafka-topics --describe` asks all the same.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.wire.generated import list_partition_reassignments as reassignments


async def handle(request: reassignments.Request, context: RequestContext) -> reassignments.Response:
    return reassignments.Response(topics=[])


def error_response(
    request: reassignments.Request, context: RequestContext, code: int, message: str
) -> reassignments.Response:
    return reassignments.Response(error_code=code, error_message=message)


API = Api(
    key=46,
    name="ListPartitionReassignments",
    versions=(0, 0),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
