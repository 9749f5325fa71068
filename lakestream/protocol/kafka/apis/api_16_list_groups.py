"""ListGroups (16), versions 0-5: the groups that this broker coordinates. Clients ask every broker.

v3 flexible. v4 phases, and a filter by them. v5 types (classic, consumer), and a filter by them. Filters do not care
for case, as in Kafka.
"""

from collections.abc import Sequence
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.group import GroupKind
from lakestream.protocol.kafka.registry import Api, RequestContext
from lakestream.protocol.kafka.wire import messages

_list = messages.api(16)

TYPES = {GroupKind.CLASSIC: "classic", GroupKind.CONSUMER: "consumer"}


async def handle(request: Any, context: RequestContext) -> Any:
    broker: Broker = context.broker
    groups = [
        _list.ListedGroup(
            group_id=group.group,
            protocol_type=group.protocol_type,
            group_state=group.phase,
            group_type=TYPES[group.kind],
        )
        for group in await broker.groups.administration.list()
    ]
    return _list.Response(
        groups=[
            group
            for group in groups
            if _passes(group.group_state, request.states_filter) and _passes(group.group_type, request.types_filter)
        ]
    )


def _passes(value: str, allowed: Sequence[str] | None) -> bool:
    return not allowed or value.lower() in {each.lower() for each in allowed}


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return _list.Response(error_code=code, groups=[])


API = Api(
    key=16,
    name="ListGroups",
    versions=(0, 5),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER, or_else=Need(Operation.DESCRIBE, ResourceType.GROUP)),),
    handle=handle,
    error_response=error_response,
)
