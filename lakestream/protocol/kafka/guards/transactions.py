"""Guards of APIs about transactions that do more than check the transactional id."""

from functools import partial
from typing import Any

from lakestream.model.access import Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext, Response
from lakestream.protocol.kafka.guards.allowed_part import AllowedPart, Judged, changed, operation_on, refuse
from lakestream.protocol.kafka.guards.each import EachNamed
from lakestream.protocol.kafka.guards.whole import on_cluster

MANY_FROM_VERSION = 4
"""Of AddPartitionsToTxn: from then on brokers send it."""
_ADDED = EachNamed(ResourceType.TOPIC, "v3_and_below_topics", "results_by_topic_v3_and_below", "name")
_DESCRIBED = EachNamed(ResourceType.TRANSACTIONAL_ID, "transactional_ids", "transaction_states")


def of_partitions(api: Api, request: Any, context: RequestContext) -> Judged:
    if context.api_version >= MANY_FROM_VERSION:
        on_cluster(api, request, context)
        return None
    resource, name = ResourceType.TRANSACTIONAL_ID, request.v3_and_below_transactional_id
    if not context.access.allows(operation_on(api, resource), resource, name):
        raise refuse(api, resource)
    return _ADDED(api, request, context)


def of_markers(api: Api, request: Any, context: RequestContext) -> Judged:
    """An administrator of the cluster may abort transactions, like the brokers themselves."""
    if not context.access.shows(Operation.ALTER, ResourceType.CLUSTER):
        on_cluster(api, request, context)
    return None


def of_description(api: Api, request: Any, context: RequestContext) -> Judged:
    """Topics that the caller may not describe are left out of a transaction."""
    judged = _DESCRIBED(api, request, context)
    if not isinstance(judged, AllowedPart):
        return AllowedPart(request, partial(_without_hidden_topics, context, None))
    return AllowedPart(judged.request, partial(_without_hidden_topics, context, judged.finish))


def _without_hidden_topics(context: RequestContext, finish: Any, response: Any) -> Response:
    states = [
        changed(each, topics=[one for one in each.topics if _may_describe(context, ResourceType.TOPIC, one.topic)])
        for each in response.transaction_states
    ]
    shown = changed(response, transaction_states=states)
    return shown if finish is None else finish(shown)  # type: ignore[no-any-return]


def of_list(api: Api, request: Any, context: RequestContext) -> Judged:
    """Transactional ids that the caller may not describe are left out."""
    return AllowedPart(request, partial(_only_described, context))


def _only_described(context: RequestContext, response: Any) -> Response:
    shown = [
        each
        for each in response.transaction_states
        if _may_describe(context, ResourceType.TRANSACTIONAL_ID, each.transactional_id)
    ]
    return changed(response, transaction_states=shown)  # type: ignore[no-any-return]


def _may_describe(context: RequestContext, resource: ResourceType, name: str) -> bool:
    return context.access.shows(Operation.DESCRIBE, resource, name)
