"""IncrementalAlterConfigs (44), versions 0-1: set, delete, append to or subtract from single configs of a topic
or a group.

- The edits of one resource are applied in one transaction, so two administrators do not overwrite each other's changes.
- A group need not exist. Other brokers follow within a second, and members with their next heartbeat.
- Settings of brokers are given where brokers are started. The failure of one resource does not affect the others.

v1 flexible.
"""

from __future__ import annotations

from lakestream.broker.broker import Broker
from lakestream.model.access import Operation
from lakestream.model.configs.edit import ConfigEdit, ConfigOperation
from lakestream.model.errors import InvalidRequest, LakestreamError
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.config_resources import GROUP, check_alterable, on_configs, repeated, topic_of
from lakestream.protocol.kafka.errors import kafka_error
from lakestream.protocol.kafka.wire.generated import incremental_alter_configs as alter_configs
from lakestream.world.turns import in_turns

OPERATIONS = frozenset(ConfigOperation)


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
        edits = _edits(resource)
        if resource.resource_type == GROUP:
            await broker.groups.configs.edit(resource.resource_name, edits, validate_only=validate_only)
        else:
            await broker.topics.edit_config(await topic_of(resource, broker), edits, validate_only=validate_only)
    except LakestreamError as error:
        return _answered(resource, *kafka_error(error))
    return _answered(resource)


def _edits(resource: alter_configs.request.AlterConfigsResource) -> list[ConfigEdit]:
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise InvalidRequest(f"a config of '{resource.resource_name}' comes twice in the request; name it once")
    for config in resource.configs:
        if config.config_operation not in OPERATIONS:
            raise InvalidRequest(f"{config.config_operation} is no operation: 0 set, 1 delete, 2 append, 3 subtract")
    return [
        ConfigEdit(ConfigOperation(config.config_operation), config.name, config.value) for config in resource.configs
    ]


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
    key=44,
    name="IncrementalAlterConfigs",
    versions=(0, 1),
    needs=on_configs(Operation.ALTER_CONFIGS),
    handle=handle,
    error_response=error_response,
)
