"""AllowedPart: the part of a request that its caller may ask for, and how the answer tells about the rest."""

import copy
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeAlias

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext, Response
from lakestream.protocol.kafka.errors import KafkaError, Refused


class AllowedPart(NamedTuple):
    request: Any
    """What the handler gets: the request without what is denied."""
    finish: Callable[[Response], Response]
    """Adds the refusals to the handler's answer, or hides what the caller may not see."""


Judged: TypeAlias = AllowedPart | Coroutine[Any, Any, AllowedPart] | None
"""None: the request may pass as it is. A coroutine: the guard has to ask the metadata store first."""

Guard: TypeAlias = Callable[[Api, Any, RequestContext], Judged]
"""Raises Refused if the whole request is denied."""

DENIED = {
    ResourceType.TOPIC: KafkaError.TOPIC_AUTHORIZATION_FAILED,
    ResourceType.GROUP: KafkaError.GROUP_AUTHORIZATION_FAILED,
    ResourceType.CLUSTER: KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    ResourceType.TRANSACTIONAL_ID: KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}


def operation_on(api: Api, resource: ResourceType) -> Operation:
    """The operation that the API declares to need on resources of this type."""
    for need in api.needs:
        each: Need | None = need
        while each is not None:
            if each.resource is resource:
                return each.operation
            each = each.or_else
    raise LookupError(f"{api.name} declares no need on a {resource.value}")


def denied_message(api: Api, resource: ResourceType) -> str:
    operation = operation_on(api, resource).name.title().replace("_", "")
    return f"{api.name} needs {operation} on the {resource.value}, which is not granted"


def refuse(api: Api, resource: ResourceType) -> Refused:
    """The error for a whole request."""
    return Refused(DENIED[resource], denied_message(api, resource))


def changed(shape: Any, **fields: Any) -> Any:
    """A copy of a message with other values in these fields."""
    copied = copy.copy(shape)
    for name, value in fields.items():
        setattr(copied, name, value)
    return copied
