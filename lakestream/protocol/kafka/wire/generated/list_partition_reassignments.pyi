"""ListPartitionReassignments, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    timeout: int = 60000
    topics: Sequence[request.ListPartitionReassignmentsTopics] | None = ()

class request:  # noqa: N801
    class ListPartitionReassignmentsTopics(Shape):
        name: str = ""
        partition_indexes: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    topics: Sequence[OngoingTopicReassignment] = ()

class OngoingTopicReassignment(Shape):
    name: str = ""
    partitions: Sequence[OngoingPartitionReassignment] = ()

class OngoingPartitionReassignment(Shape):
    partition_index: int = 0
    replicas: Sequence[int] = ()
    adding_replicas: Sequence[int] = ()
    removing_replicas: Sequence[int] = ()
