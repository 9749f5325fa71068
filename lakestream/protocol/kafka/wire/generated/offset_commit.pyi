"""OffsetCommit, versions 2-10. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    generation_id_or_member_epoch: int = -1
    member_id: str = ""
    retention_time: int = -1
    topics: Sequence[request.OffsetCommitRequestTopic] = ()
    group_instance_id: str | None = None

class request:  # noqa: N801
    class OffsetCommitRequestTopic(Shape):
        name: str = ""
        partitions: Sequence[request.OffsetCommitRequestPartition] = ()
        topic_id: bytes = ...

    class OffsetCommitRequestPartition(Shape):
        partition_index: int = 0
        committed_offset: int = 0
        committed_metadata: str | None = None
        committed_leader_epoch: int = -1

class Response(Shape):
    topics: Sequence[OffsetCommitResponseTopic] = ()
    throttle_time: int = 0

class OffsetCommitResponseTopic(Shape):
    name: str = ""
    partitions: Sequence[OffsetCommitResponsePartition] = ()
    topic_id: bytes = ...

class OffsetCommitResponsePartition(Shape):
    partition_index: int = 0
    error_code: int = 0
