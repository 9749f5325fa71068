"""ListGroups (16), versions 0-5: the groups that this broker coordinates. Clients ask every broker.

v3 flexible. v4 phases, and a filter by them. v5 types (classic, consumer, share), and a filter by them. Filters do not
care for case, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Sequence

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.group import GroupKind
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.wire.generated import list_groups

TYPES = {GroupKind.CLASSIC: "classic", GroupKind.CONSUMER: "consumer", GroupKind.SHARE: "share"}


async def handle(request: list_groups.Request, context: RequestContext) -> list_groups.Response:
    broker = context.broker
    groups = [
        list_groups.ListedGroup(
            group_id=group.group,
            protocol_type=group.protocol_type,
            group_state=group.phase,
            group_type=TYPES[group.kind],
        )
        for group in await broker.groups.administration.list()
    ]
    return list_groups.Response(
        groups=[
            group
            for group in groups
            if _passes(group.group_state, request.states_filter) and _passes(group.group_type, request.types_filter)
        ]
    )


def _passes(value: str, allowed: Sequence[str] | None) -> bool:
    return not allowed or value.lower() in {each.lower() for each in allowed}


def error_response(
    request: list_groups.Request, context: RequestContext, code: int, message: str
) -> list_groups.Response:
    return list_groups.Response(error_code=code, groups=[])


API = Api(
    key=16,
    name="ListGroups",
    versions=(0, 5),
    needs=(Need(Operation.DESCRIBE, ResourceType.CLUSTER, or_else=Need(Operation.DESCRIBE, ResourceType.GROUP)),),
    handle=handle,
    error_response=error_response,
)
