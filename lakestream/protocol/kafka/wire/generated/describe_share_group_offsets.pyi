"""DescribeShareGroupOffsets, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    groups: Sequence[request.DescribeShareGroupOffsetsRequestGroup] = ()

class request:  # noqa: N801
    class DescribeShareGroupOffsetsRequestGroup(Shape):
        group_id: str = ""
        topics: Sequence[request.DescribeShareGroupOffsetsRequestTopic] | None = ()

    class DescribeShareGroupOffsetsRequestTopic(Shape):
        topic_name: str = ""
        partitions: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    groups: Sequence[DescribeShareGroupOffsetsResponseGroup] = ()

class DescribeShareGroupOffsetsResponseGroup(Shape):
    group_id: str = ""
    topics: Sequence[DescribeShareGroupOffsetsResponseTopic] = ()
    error_code: int = 0
    error_message: str | None = None

class DescribeShareGroupOffsetsResponseTopic(Shape):
    topic_name: str = ""
    topic_id: bytes = ...
    partitions: Sequence[DescribeShareGroupOffsetsResponsePartition] = ()

class DescribeShareGroupOffsetsResponsePartition(Shape):
    partition_index: int = 0
    start_offset: int = 0
    leader_epoch: int = 0
    error_code: int = 0
    error_message: str | None = None
    lag: int = -1
