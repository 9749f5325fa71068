"""DescribeQuorum, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.TopicData] = ()

class request:  # noqa: N801
    class TopicData(Shape):
        topic_name: str = ""
        partitions: Sequence[request.PartitionData] = ()

    class PartitionData(Shape):
        partition_index: int = 0

class Response(Shape):
    error_code: int = 0
    topics: Sequence[TopicData] = ()
    error_message: str | None = None
    nodes: Sequence[Node] = ()

class TopicData(Shape):
    topic_name: str = ""
    partitions: Sequence[PartitionData] = ()

class PartitionData(Shape):
    partition_index: int = 0
    error_code: int = 0
    leader_id: int = 0
    leader_epoch: int = 0
    high_watermark: int = 0
    current_voters: Sequence[ReplicaState] = ()
    observers: Sequence[ReplicaState] = ()
    error_message: str | None = None

class ReplicaState(Shape):
    replica_id: int = 0
    log_end_offset: int = 0
    last_fetch_timestamp: int = -1
    last_caught_up_timestamp: int = -1
    replica_directory_id: bytes = ...

class Node(Shape):
    node_id: int = 0
    listeners: Sequence[Listener] = ()

class Listener(Shape):
    name: str = ""
    host: str = ""
    port: int = 0
