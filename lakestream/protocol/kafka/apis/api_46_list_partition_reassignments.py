"""ListPartitionReassignments (46), version 0: none, ever.

Partitions are not assigned to brokers, so nothing is being reassigned. `kafka-topics --describe` asks all the same.
"""

from typing import Any

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.registry import Api, RequestContext
from lakestream.protocol.kafka.wire import messages

_reassignments = messages.api(46)


async def handle(request: Any, context: RequestContext) -> Any:
    return _reassignments.Response(topics=[])


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return _reassignments.Response(error_code=code, error_message=message)


API = Api(
    key=46,
    name="ListPartitionReassignments",
    versions=(0, 0),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
