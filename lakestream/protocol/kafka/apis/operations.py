"""Authorized operations: what the caller may do to a resource, as bits by Kafka's numbers."""

from lakestream.access.access import Access
from lakestream.model.access import Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME

NOT_ASKED = -(2**31)

_ON_ALL = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
_POSSIBLE = {
    ResourceType.TOPIC: (
        *_ON_ALL,
        Operation.READ,
        Operation.WRITE,
        Operation.CREATE,
        Operation.DELETE,
        Operation.ALTER,
    ),
    ResourceType.CLUSTER: (
        *_ON_ALL,
        Operation.CREATE,
        Operation.ALTER,
        Operation.CLUSTER_ACTION,
        Operation.IDEMPOTENT_WRITE,
    ),
    ResourceType.GROUP: (*_ON_ALL, Operation.READ, Operation.DELETE),
}


def _bits(operations: tuple[Operation, ...]) -> int:
    return sum(1 << operation for operation in operations)


_ALL = {resource: _bits(operations) for resource, operations in _POSSIBLE.items()}


def authorized(access: Access, resource: ResourceType, name: str = CLUSTER_NAME) -> int:
    if not access.is_limited:
        return _ALL[resource]
    return _bits(tuple(each for each in _POSSIBLE[resource] if access.shows(each, resource, name)))
