"""AlterPartitionReassignments, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    timeout: int = 60000
    topics: Sequence[request.ReassignableTopic] = ()
    allow_replication_factor_change: bool = True

class request:  # noqa: N801
    class ReassignableTopic(Shape):
        name: str = ""
        partitions: Sequence[request.ReassignablePartition] = ()

    class ReassignablePartition(Shape):
        partition_index: int = 0
        replicas: Sequence[int] | None = None

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: Sequence[ReassignableTopicResponse] = ()
    allow_replication_factor_change: bool = True

class ReassignableTopicResponse(Shape):
    name: str = ""
    partitions: Sequence[ReassignablePartitionResponse] = ()

class ReassignablePartitionResponse(Shape):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
