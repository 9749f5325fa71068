"""The resources that four config APIs name: a topic, a broker by its id, a group."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from lakestream.broker.broker import Broker
from lakestream.broker.directory import TopicEntry
from lakestream.model.access import Need, Needs, Operation, ResourceType
from lakestream.model.errors import InvalidRequest, InvalidTopicName, UnknownTopic
from lakestream.model.topic import topic_name_problem

TOPIC = 2
BROKER = 4
BROKER_LOGGER = 8
CLIENT_METRICS = 16
GROUP = 32
"""Kafka's numbers."""


def on_configs(operation: Operation) -> Needs:
    return (
        Need(operation, ResourceType.TOPIC, scope="configs of topics"),
        Need(operation, ResourceType.GROUP, scope="configs of groups"),
        Need(operation, ResourceType.CLUSTER, scope="configs of brokers"),
    )


class Resource(Protocol):
    """The fields that requests to describe or alter configs have in common."""

    resource_type: int
    resource_name: str


def repeated(resources: Sequence[Resource]) -> set[tuple[int, str]]:
    """Resources that are named more than once in a request, which is ambiguous."""
    counts = Counter((each.resource_type, each.resource_name) for each in resources)
    return {resource for resource, count in counts.items() if count > 1}


async def topic_of(resource: Resource, broker: Broker) -> TopicEntry:
    """Raises InvalidTopicName or UnknownTopic."""
    try:
        return await broker.directory.find(resource.resource_name)
    except UnknownTopic as unknown:
        if (problem := topic_name_problem(resource.resource_name)) is not None:
            raise InvalidTopicName(problem) from unknown
        raise


def check_alterable(resource: Resource, twice: set[tuple[int, str]]) -> None:
    if (resource.resource_type, resource.resource_name) in twice:
        raise InvalidRequest(f"'{resource.resource_name}' comes twice in the request; name it once")
    if resource.resource_type == BROKER:
        raise InvalidRequest("a broker's settings are given where it is started: see `lakestream settings`")
    if resource.resource_type == GROUP and (not resource.resource_name or "\0" in resource.resource_name):
        raise InvalidRequest("name the group, without the character NUL")
    if resource.resource_type not in (TOPIC, GROUP):
        raise InvalidRequest(f"resources of type {resource.resource_type} have no configs here; topics and groups do")
