"""AlterShareGroupOffsets, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    topics: Sequence[request.AlterShareGroupOffsetsRequestTopic] = ()

class request:  # noqa: N801
    class AlterShareGroupOffsetsRequestTopic(Shape):
        topic_name: str = ""
        partitions: Sequence[request.AlterShareGroupOffsetsRequestPartition] = ()

    class AlterShareGroupOffsetsRequestPartition(Shape):
        partition_index: int = 0
        start_offset: int = 0

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: Sequence[AlterShareGroupOffsetsResponseTopic] = ()

class AlterShareGroupOffsetsResponseTopic(Shape):
    topic_name: str = ""
    topic_id: bytes = ...
    partitions: Sequence[AlterShareGroupOffsetsResponsePartition] = ()

class AlterShareGroupOffsetsResponsePartition(Shape):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
