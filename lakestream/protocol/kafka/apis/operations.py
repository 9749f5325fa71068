"""Authorized operations, as bits by Kafka's numbers. Nothing authenticates callers yet, so all are allowed."""

from lakestream.model.access import Operation

NOT_ASKED = -(2**31)


def _bits(*operations: Operation) -> int:
    return sum(1 << operation for operation in operations)


_ON_ALL = _bits(Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS)
ALL_ON_TOPIC = _ON_ALL | _bits(Operation.READ, Operation.WRITE, Operation.CREATE, Operation.DELETE, Operation.ALTER)
ALL_ON_CLUSTER = _ON_ALL | _bits(
    Operation.CREATE, Operation.ALTER, Operation.CLUSTER_ACTION, Operation.IDEMPOTENT_WRITE
)
ALL_ON_GROUP = _ON_ALL | _bits(Operation.READ, Operation.DELETE)
