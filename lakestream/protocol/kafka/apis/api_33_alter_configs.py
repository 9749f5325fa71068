"""AlterConfigs (33), versions 0-2: replace all configs of a topic or a group; those that are not named return to
their defaults.

- Kept for older clients. IncrementalAlterConfigs does not lose concurrent changes.
- Settings of brokers are given where brokers are started. The failure of one resource does not affect the others.

v2 flexible.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.model.access import Operation
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.config_resources import GROUP, check_alterable, on_configs, repeated, topic_of
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import alter_configs
from lakestream.world.turns import in_turns


async def handle(request: alter_configs.Request, context: RequestContext) -> alter_configs.Response:
    twice = repeated(request.resources)
    return alter_configs.Response(
        responses=[
            await _alter(resource, twice, context.broker, validate_only=request.validate_only)
            async for resource in in_turns(request.resources)
        ]
    )


async def _alter(
    resource: alter_configs.request.AlterConfigsResource,
    twice: set[tuple[int, str]],
    broker: Broker,
    *,
    validate_only: bool,
) -> alter_configs.AlterConfigsResourceResponse:
    try:
        check_alterable(resource, twice)
        config = _config(resource)
        if resource.resource_type == GROUP:
            await broker.groups.configs.replace(resource.resource_name, config, validate_only=validate_only)
        else:
            await broker.topics.replace_config(await topic_of(resource, broker), config, validate_only=validate_only)
    except LakestreamError as error:
        return _answered(resource, *kafka_error(error))
    return _answered(resource)


def _config(resource: alter_configs.request.AlterConfigsResource) -> dict[str, str]:
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise InvalidRequest(f"a config of '{resource.resource_name}' comes twice in the request; name it once")
    return {config.name: _value(config) for config in resource.configs}


def _value(config: alter_configs.request.AlterableConfig) -> str:
    if config.value is None:
        raise InvalidRequest(f"config '{config.name}' has no value; leave it out to have the default")
    return config.value


def _answered(
    resource: alter_configs.request.AlterConfigsResource, code: int = 0, message: str | None = None
) -> alter_configs.AlterConfigsResourceResponse:
    return alter_configs.AlterConfigsResourceResponse(
        resource_type=resource.resource_type,
        resource_name=resource.resource_name,
        error_code=code,
        error_message=message,
    )


def error_response(
    request: alter_configs.Request, context: RequestContext, code: int, message: str
) -> alter_configs.Response:
    return alter_configs.Response(responses=[_answered(resource, code, message) for resource in request.resources])


API = Api(
    key=33,
    name="AlterConfigs",
    versions=(0, 2),
    needs=on_configs(Operation.ALTER_CONFIGS),
    handle=handle,
    error_response=error_response,
)
