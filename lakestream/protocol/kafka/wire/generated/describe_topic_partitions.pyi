"""DescribeTopicPartitions, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.TopicRequest] = ()
    response_partition_limit: int = 2000
    cursor: request.Cursor | None = None

class request:  # noqa: N801
    class TopicRequest(Shape):
        name: str = ""

    class Cursor(Shape):
        topic_name: str = ""
        partition_index: int = 0

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[DescribeTopicPartitionsResponseTopic] = ()
    next_cursor: Cursor | None = None

class DescribeTopicPartitionsResponseTopic(Shape):
    error_code: int = 0
    name: str | None = None
    topic_id: bytes = ...
    is_internal: bool = False
    partitions: Sequence[DescribeTopicPartitionsResponsePartition] = ()
    topic_authorized_operations: int = -2147483648

class DescribeTopicPartitionsResponsePartition(Shape):
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: Sequence[int] = ()
    isr_nodes: Sequence[int] = ()
    eligible_leader_replicas: Sequence[int] | None = None
    last_known_elr: Sequence[int] | None = None
    offline_replicas: Sequence[int] = ()

class Cursor(Shape):
    topic_name: str = ""
    partition_index: int = 0
