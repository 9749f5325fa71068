"""ListOffsets, versions 1-11. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    replica_id: int = 0
    topics: Sequence[request.ListOffsetsTopic] = ()
    isolation_level: int = 0
    timeout: int = 0

class request:  # noqa: N801
    class ListOffsetsTopic(Shape):
        name: str = ""
        partitions: Sequence[request.ListOffsetsPartition] = ()

    class ListOffsetsPartition(Shape):
        partition_index: int = 0
        timestamp: int = 0
        current_leader_epoch: int = -1

class Response(Shape):
    topics: Sequence[ListOffsetsTopicResponse] = ()
    throttle_time: int = 0

class ListOffsetsTopicResponse(Shape):
    name: str = ""
    partitions: Sequence[ListOffsetsPartitionResponse] = ()

class ListOffsetsPartitionResponse(Shape):
    partition_index: int = 0
    error_code: int = 0
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1
