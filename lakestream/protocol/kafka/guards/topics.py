"""Guards of APIs about topics that do more than check each of them."""

from collections.abc import Collection
from functools import partial
from typing import Any

from lakestream.model.access import Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext, Response
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.guards.allowed_part import AllowedPart, Judged, changed
from lakestream.protocol.kafka.guards.each import EachNamed, EachTopic
from lakestream.protocol.kafka.wire.generated import describe_topic_partitions

BY_ID_FROM_VERSION = 6
"""Of DeleteTopics."""
_METADATA = EachTopic("topics", "topics", denied_id=KafkaError.UNKNOWN_TOPIC_ID)
_CREATE = EachNamed(ResourceType.TOPIC, "topics", "topics", "name")
_PAGES = EachNamed(ResourceType.TOPIC, "topics", "topics", "name")
_EPOCHS = EachNamed(ResourceType.TOPIC, "topics", "topics", "topic")


def of_metadata(api: Api, request: Any, context: RequestContext) -> Judged:
    """Topics that are named are refused by name. In a list of all topics, those that may not be described are left
    out. Whether a topic may be created on demand is asked by the handler, which knows whether it exists."""
    if request.topics is None or (context.api_version == 0 and not request.topics):
        return AllowedPart(request, partial(_only_described, context))
    judged = _METADATA(api, request, context)
    if context.api_version == 0 and isinstance(judged, AllowedPart) and not judged.request.topics:
        return AllowedPart(request, partial(_only_refusals, judged.finish))
    return judged


def _only_described(context: RequestContext, response: Any) -> Response:
    shown = [each for each in response.topics if _is_shown(context, each.name)]
    return changed(response, topics=shown)  # type: ignore[no-any-return]


def _only_refusals(finish: Any, response: Any) -> Response:
    """In version 0, a request that names no topics asks for all of them, so the denied ones cannot be taken out."""
    return finish(changed(response, topics=[]))  # type: ignore[no-any-return]


def of_topic_pages(api: Api, request: Any, context: RequestContext) -> Judged:
    """As Metadata. A request that names no topics gets the names of those that may be described."""
    if request.topics:
        judged = _PAGES(api, request, context)
        if isinstance(judged, AllowedPart) and not judged.request.topics:
            return AllowedPart(_naming(request, [_NO_TOPIC]), partial(_without_placeholder, judged.finish))
        return judged
    return _pages_of_described(request, context)


_NO_TOPIC = ""
"""A name that no topic has, for a request of which nothing is left. Without any name it would ask for all topics."""


async def _pages_of_described(request: Any, context: RequestContext) -> AllowedPart:
    await context.broker.directory.refresh()
    names = [entry.topic.name for entry in context.broker.directory.all()]
    shown = [name for name in names if _is_shown(context, name)]
    return AllowedPart(_naming(request, shown or [_NO_TOPIC]), partial(_without_placeholder, lambda response: response))


def _naming(request: Any, names: Collection[str]) -> Any:
    make = describe_topic_partitions.request.TopicRequest
    return changed(request, topics=[make(name=name) for name in names])


def _without_placeholder(finish: Any, response: Any) -> Response:
    kept = [each for each in response.topics if each.name != _NO_TOPIC]
    return finish(changed(response, topics=kept))  # type: ignore[no-any-return]


def of_creation(api: Api, request: Any, context: RequestContext) -> Judged:
    """Create on the cluster is enough for every topic. Configs are shown to those who may describe them (KIP-525)."""
    judged: Judged = None
    if not context.access.shows(Operation.CREATE, ResourceType.CLUSTER):
        judged = _CREATE(api, request, context)
    finish = judged.finish if isinstance(judged, AllowedPart) else None
    return AllowedPart(
        judged.request if isinstance(judged, AllowedPart) else request, partial(_without_configs, context, finish)
    )


def _without_configs(context: RequestContext, finish: Any, response: Any) -> Response:
    topics = [
        each
        if each.error_code or context.access.shows(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, each.name)
        else changed(
            each,
            num_partitions=-1,
            replication_factor=-1,
            configs=[],
            topic_config_error_code=KafkaError.TOPIC_AUTHORIZATION_FAILED,
        )
        for each in response.topics
    ]
    shown = changed(response, topics=topics)
    return shown if finish is None else finish(shown)  # type: ignore[no-any-return]


_BY_NAME = EachNamed(ResourceType.TOPIC, "topic_names", "responses")
_BY_NAME_OR_ID = EachTopic("topics", "responses")


def of_deletion(api: Api, request: Any, context: RequestContext) -> Judged:
    guard = _BY_NAME_OR_ID if context.api_version >= BY_ID_FROM_VERSION else _BY_NAME
    return guard(api, request, context)


def of_epochs(api: Api, request: Any, context: RequestContext) -> Judged:
    """ClusterAction is enough for every topic."""
    if context.access.shows(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
        return None
    return _EPOCHS(api, request, context)


def _is_shown(context: RequestContext, name: str) -> bool:
    return context.access.shows(Operation.DESCRIBE, ResourceType.TOPIC, name)
