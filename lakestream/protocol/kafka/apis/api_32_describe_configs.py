"""DescribeConfigs (32), versions 1-4: configs of topics, of groups and of this broker, with where they come from.

- A topic shows every config there is, set or not; a broker, and a group, a few that are true and read-only. Keys filter
  them.
- Synonyms of a config are the value that was set and the default behind it.

v1 sources and synonyms. v3 types and documentation. v4 flexible.
"""

from collections.abc import Iterable
from typing import Any

from lakestream.broker.broker import Broker
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.apis.config_entries import (
    ConfigEntry,
    ConfigSource,
    broker_entries,
    group_entries,
    topic_entries,
)
from lakestream.protocol.kafka.apis.config_resources import BROKER, GROUP, TOPIC, topic_of
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.registry import Api, RequestContext
from lakestream.protocol.kafka.wire import messages

_describe_configs = messages.api(32)


async def handle(request: Any, context: RequestContext) -> Any:
    return _describe_configs.Response(
        results=[await _describe(resource, request, context.broker) for resource in request.resources]
    )


async def _describe(resource: Any, request: Any, broker: Broker) -> Any:
    try:
        entries = await _entries(resource, broker)
    except LakestreamError as error:
        return _failed(resource, *kafka_error(error))
    return _describe_configs.DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        configs=[_shown(entry, request) for entry in entries if _is_wanted(entry, resource.configuration_keys)],
    )


async def _entries(resource: Any, broker: Broker) -> Iterable[ConfigEntry]:
    if resource.resource_type == TOPIC:
        return topic_entries((await topic_of(resource, broker)).topic.config)
    if resource.resource_type == GROUP:
        if not resource.resource_name:
            raise InvalidRequest("name the group: there are no configs that only some groups have")
        return group_entries(broker.groups.holdings.limits)
    if resource.resource_type != BROKER:
        raise InvalidRequest(
            f"resources of type {resource.resource_type} have no configs here: ask for topics, brokers or groups"
        )
    if resource.resource_name not in ("", str(broker.cluster.spec.id)):
        raise InvalidRequest(f"this is broker {broker.cluster.spec.id}: ask broker {resource.resource_name} itself")
    return (
        broker_entries(broker) if resource.resource_name else ()
    )  # '': defaults of the cluster, of which there are none


def _is_wanted(entry: ConfigEntry, keys: list[str] | None) -> bool:
    return keys is None or entry.name in keys


def _shown(entry: ConfigEntry, request: Any) -> Any:
    return _describe_configs.DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        config_type=entry.type,
        synonyms=_synonyms(entry) if request.include_synonyms else [],
        documentation=entry.meaning if request.include_documentation else None,
    )


def _synonyms(entry: ConfigEntry) -> list[Any]:
    values = [(entry.value, entry.source)]
    if entry.source is ConfigSource.DYNAMIC_TOPIC:
        values.append((entry.default, ConfigSource.DEFAULT))
    return [
        _describe_configs.DescribeConfigsSynonym(name=entry.name, value=value, source=source)
        for value, source in values
    ]


def _failed(resource: Any, code: int, message: str) -> Any:
    return _describe_configs.DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        error_code=code,
        error_message=message,
    )


def error_response(request: Any, context: RequestContext, code: int, message: str) -> Any:
    return _describe_configs.Response(results=[_failed(resource, code, message) for resource in request.resources])


API = Api(key=32, name="DescribeConfigs", versions=(1, 4), handle=handle, error_response=error_response)
