"""ACLs in Kafka's numbers. Grants on tables, views, namespaces and subjects have none and are not shown to clients."""

from typing import Any, TypeVar

from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import Acl, AclFilter, Pattern, Permission
from lakestream.protocol.kafka.api import RequestContext
from lakestream.protocol.kafka.errors import KafkaError, Refused

ANY, ALL_OPERATIONS, MATCH = 1, 2, 2
"""ANY is for every field of a filter, MATCH for its pattern type alone."""
RESOURCES = {
    2: ResourceType.TOPIC,
    3: ResourceType.GROUP,
    4: ResourceType.CLUSTER,
    5: ResourceType.TRANSACTIONAL_ID,
}
_NUMBERS = {resource: number for number, resource in RESOURCES.items()}
T = TypeVar("T")


def check_enabled(context: RequestContext) -> None:
    if not context.broker.authorizer.policy.authorize:
        raise Refused(
            KafkaError.SECURITY_DISABLED, "ACLs are not checked here: set access.authorize, and they will be kept too"
        )


def has_number(acl: Acl) -> bool:
    return acl.resource in _NUMBERS


def resource_number(acl: Acl) -> int:
    return _NUMBERS[acl.resource]


def operation_number(acl: Acl) -> int:
    return ALL_OPERATIONS if acl.operation is None else int(acl.operation)


def acl_of(asked: Any) -> Acl:
    """Raises Refused."""
    return Acl(
        resource=_known(RESOURCES.get(asked.resource_type), "resource type", asked.resource_type),
        pattern=_known(_member(Pattern, asked.resource_pattern_type), "pattern type", asked.resource_pattern_type),
        name=asked.resource_name,
        principal=asked.principal,
        host=asked.host,
        operation=None if asked.operation == ALL_OPERATIONS else _operation(asked.operation),
        permission=_known(_member(Permission, asked.permission_type), "permission", asked.permission_type),
    )


def filter_of(asked: Any) -> AclFilter:
    """Raises Refused."""
    kind, pattern, operation = asked.resource_type_filter, asked.pattern_type_filter, asked.operation
    return AclFilter(
        resource=None if kind == ANY else _known(RESOURCES.get(kind), "resource type", kind),
        pattern=None if pattern in (ANY, MATCH) else _known(_member(Pattern, pattern), "pattern type", pattern),
        matches_name=pattern == MATCH,
        name=asked.resource_name_filter,
        principal=asked.principal_filter,
        host=asked.host_filter,
        operation=None if operation in (ANY, ALL_OPERATIONS) else _operation(operation),
        all_operations=operation == ALL_OPERATIONS,
        permission=None
        if asked.permission_type == ANY
        else _known(_member(Permission, asked.permission_type), "permission", asked.permission_type),
    )


def _operation(number: int) -> Operation:
    return _known(_member(Operation, number), "operation", number)


def _member(kind: type[T], number: int) -> T | None:
    try:
        return kind(number)  # type: ignore[call-arg]
    except ValueError:
        return None


def _known(found: T | None, what: str, number: int) -> T:
    if found is None:
        raise Refused(KafkaError.INVALID_REQUEST, f"there is no {what} {number}")
    return found
