"""DescribeConfigs (32), versions 1-4: configs of topics, of groups and of this broker, with their sources.

- A topic or a group shows every config there is, set or not; a group need not exist. A broker shows a few that are true
  and read-only. Keys filter them.
- Synonyms of a config are its set value and the default behind it.
- An answer of more than 64 MiB is refused (INVALID_REQUEST): some thirty thousand topics, or eight thousand with all
  their synonyms and documentation.

v1 sources and synonyms. v3 types and documentation. v4 flexible.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from lakestream.broker.broker import Broker
from lakestream.model.access import Operation
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.config_entries import (
    ConfigEntry,
    ConfigSource,
    broker_entries,
    group_entries,
    topic_entries,
)
from lakestream.protocol.kafka.apis.config_resources import BROKER, GROUP, TOPIC, on_configs, topic_of
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import describe_configs
from lakestream.world.turns import in_turns

ANSWER_BYTES_MAX = 64 * 1024 * 1024
"""Enough to describe all topics of a large cluster. A few bytes of a request ask for kilobytes of the answer, so only
this limit keeps the answer from outgrowing the broker's memory."""
FIXED_BYTES = 16
"""Approximate size of an entry or a resource without its texts."""


class SentConfigs(NamedTuple):
    """Configs ready to send. Many resources share one value."""

    configs: list[describe_configs.DescribeConfigsResourceResult]
    bytes: int


async def handle(request: describe_configs.Request, context: RequestContext) -> describe_configs.Response:
    made: dict[Hashable, SentConfigs] = {}
    results: list[describe_configs.DescribeConfigsResult] = []
    answer_bytes = 0
    async for resource in in_turns(request.resources):
        result, result_bytes = await _describe(resource, request, made, context.broker)
        answer_bytes += result_bytes + len(resource.resource_name) + FIXED_BYTES
        if answer_bytes > ANSWER_BYTES_MAX:
            raise InvalidRequest("too many configs for one answer: ask for fewer resources at once, or for single keys")
        results.append(result)
    return describe_configs.Response(results=results)


async def _describe(
    resource: describe_configs.request.DescribeConfigsResource,
    request: describe_configs.Request,
    made: dict[Hashable, SentConfigs],
    broker: Broker,
) -> tuple[describe_configs.DescribeConfigsResult, int]:
    """The result, and its approximate size in bytes."""
    try:
        config = await _config(resource, broker)
    except LakestreamError as error:
        code, message = kafka_error(error)
        return _failed(resource, code, message), len(message)
    keys = frozenset(resource.configuration_keys or ())
    kind = resource.resource_type, tuple(config.items()), keys
    if kind not in made:
        entries = [entry for entry in _entries(resource, config, broker) if not keys or entry.name in keys]
        made[kind] = _shown(entries, request)
    result = describe_configs.DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name, configs=made[kind].configs
    )
    return result, made[kind].bytes


async def _config(resource: describe_configs.request.DescribeConfigsResource, broker: Broker) -> Mapping[str, str]:
    """The configs set on the resource. Entries depend on these and its type alone. Raises if it does not exist."""
    if resource.resource_type == TOPIC:
        return (await topic_of(resource, broker)).topic.config
    if resource.resource_type == GROUP:
        if not resource.resource_name:
            raise InvalidRequest("name the group: there are no configs that only some groups have")
        return broker.groups.configs.set_on(resource.resource_name)
    if resource.resource_type != BROKER:
        raise InvalidRequest(
            f"resources of type {resource.resource_type} have no configs here: ask for topics, brokers or groups"
        )
    if resource.resource_name not in ("", str(broker.cluster.spec.id)):
        raise InvalidRequest(f"this is broker {broker.cluster.spec.id}: ask broker {resource.resource_name} itself")
    return {"broker.id": resource.resource_name}


def _entries(
    resource: describe_configs.request.DescribeConfigsResource, config: Mapping[str, str], broker: Broker
) -> Iterable[ConfigEntry]:
    if resource.resource_type == TOPIC:
        return topic_entries(config)
    if resource.resource_type == GROUP:
        return group_entries(broker.groups.configs.defaults, config)
    return broker_entries(broker) if resource.resource_name else ()  # '': defaults of the cluster, which has none


def _shown(entries: list[ConfigEntry], request: describe_configs.Request) -> SentConfigs:
    configs = [_shown_entry(entry, request) for entry in entries]
    return SentConfigs(configs, sum(map(_bytes, configs)))


def _bytes(config: describe_configs.DescribeConfigsResourceResult) -> int:
    texts = [config.name, config.value, config.documentation]
    texts += [text for synonym in config.synonyms for text in (synonym.name, synonym.value)]
    return FIXED_BYTES + sum(len(text) for text in texts if text is not None)


def _shown_entry(
    entry: ConfigEntry, request: describe_configs.Request
) -> describe_configs.DescribeConfigsResourceResult:
    return describe_configs.DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        config_type=entry.type,
        synonyms=_synonyms(entry) if request.include_synonyms else [],
        documentation=entry.meaning if request.include_documentation else None,
    )


def _synonyms(entry: ConfigEntry) -> list[describe_configs.DescribeConfigsSynonym]:
    values = [(entry.value, entry.source)]
    if entry.source in (ConfigSource.DYNAMIC_TOPIC, ConfigSource.DYNAMIC_GROUP):
        values.append((entry.default, ConfigSource.DEFAULT))
    return [
        describe_configs.DescribeConfigsSynonym(name=entry.name, value=value, source=source) for value, source in values
    ]


def _failed(
    resource: describe_configs.request.DescribeConfigsResource, code: int, message: str
) -> describe_configs.DescribeConfigsResult:
    return describe_configs.DescribeConfigsResult(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        error_code=code,
        error_message=message,
    )


def error_response(
    request: describe_configs.Request, context: RequestContext, code: int, message: str
) -> describe_configs.Response:
    return describe_configs.Response(results=[_failed(resource, code, message) for resource in request.resources])


API = Api(
    key=32,
    name="DescribeConfigs",
    versions=(1, 4),
    needs=on_configs(Operation.DESCRIBE_CONFIGS),
    handle=handle,
    error_response=error_response,
)
