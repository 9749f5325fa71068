"""ListConfigResources (74), versions 0-1: the topics, brokers and groups that have configs of their own.

- Topics and brokers are listed by their names and ids, and groups that have configs of their own. Metrics of clients
  have no configs that could be set here, so none is listed; `kafka-configs` asks for them all the same.

v0 the metrics of clients alone. v1 resource types to choose from; an empty list means all.
"""

from __future__ import annotations

from collections.abc import Iterable

from lakestream.broker.broker import Broker
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.config_resources import BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP, TOPIC
from lakestream.protocol.kafka.errors import KafkaError
from lakestream.protocol.kafka.wire.generated import list_config_resources

TYPES_FROM_VERSION = 1
KNOWN = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)


async def handle(request: list_config_resources.Request, context: RequestContext) -> list_config_resources.Response:
    types = request.resource_types if context.api_version >= TYPES_FROM_VERSION else [CLIENT_METRICS]
    if any(each not in KNOWN for each in types):
        return list_config_resources.Response(error_code=KafkaError.UNSUPPORTED_VERSION, config_resources=[])
    return list_config_resources.Response(
        config_resources=[
            list_config_resources.ConfigResource(resource_name=name, resource_type=each)
            for each in dict.fromkeys(types or KNOWN)
            for name in _names(each, context.broker)
        ]
    )


def _names(kind: int, broker: Broker) -> Iterable[str]:
    if kind == TOPIC:
        return sorted(entry.topic.name for entry in broker.directory.all())
    if kind == GROUP:
        return broker.groups.configs.names()
    return [str(each.id) for each in broker.cluster.listed()] if kind == BROKER else ()


def error_response(
    request: list_config_resources.Request, context: RequestContext, code: int, message: str
) -> list_config_resources.Response:
    return list_config_resources.Response(error_code=code, config_resources=[])


API = Api(
    key=74,
    name="ListConfigResources",
    versions=(0, 1),
    needs=(Need(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
