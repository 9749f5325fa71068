"""Guards that allow or refuse a request as a whole."""

from typing import Any

from lakestream.model.access import ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.guards.allowed_part import Guard, Judged, operation_on, refuse


def on_cluster(api: Api, request: Any, context: RequestContext) -> None:
    if not context.access.allows(operation_on(api, ResourceType.CLUSTER), ResourceType.CLUSTER):
        raise refuse(api, ResourceType.CLUSTER)


def on_group(api: Api, request: Any, context: RequestContext) -> None:
    if not context.access.allows(operation_on(api, ResourceType.GROUP), ResourceType.GROUP, request.group_id):
        raise refuse(api, ResourceType.GROUP)


def on_transactional_id(api: Api, request: Any, context: RequestContext) -> None:
    """Requests of other producers have no transactional id."""
    name = request.transactional_id
    resource = ResourceType.TRANSACTIONAL_ID
    if name is not None and not context.access.allows(operation_on(api, resource), resource, name):
        raise refuse(api, resource)


def on_producer(api: Api, request: Any, context: RequestContext) -> None:
    """An idempotent producer may write to the cluster, or to some topic, whichever that is (KIP-679)."""
    on_transactional_id(api, request, context)
    if request.transactional_id is not None:
        return
    access = context.access
    if access.allows_on_any(operation_on(api, ResourceType.TOPIC), ResourceType.TOPIC):
        return
    if not access.allows(operation_on(api, ResourceType.CLUSTER), ResourceType.CLUSTER):
        raise refuse(api, ResourceType.CLUSTER)


def all_of(*guards: Guard) -> Guard:
    """Each must allow the request. Only the last one may allow a part of it."""

    def judge(api: Api, request: Any, context: RequestContext) -> Judged:
        for guard in guards[:-1]:
            judged = guard(api, request, context)
            assert judged is None, "only the last guard may allow a part"
        return guards[-1](api, request, context)

    return judge
