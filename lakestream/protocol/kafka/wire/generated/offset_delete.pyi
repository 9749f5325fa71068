"""OffsetDelete, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    topics: Sequence[request.OffsetDeleteRequestTopic] = ()

class request:  # noqa: N801
    class OffsetDeleteRequestTopic(Shape):
        name: str = ""
        partitions: Sequence[request.OffsetDeleteRequestPartition] = ()

    class OffsetDeleteRequestPartition(Shape):
        partition_index: int = 0

class Response(Shape):
    error_code: int = 0
    throttle_time: int = 0
    topics: Sequence[OffsetDeleteResponseTopic] = ()

class OffsetDeleteResponseTopic(Shape):
    name: str = ""
    partitions: Sequence[OffsetDeleteResponsePartition] = ()

class OffsetDeleteResponsePartition(Shape):
    partition_index: int = 0
    error_code: int = 0
