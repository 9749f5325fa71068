"""OffsetFetch, versions 1-10. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    topics: Sequence[request.OffsetFetchRequestTopic] | None = ()
    require_stable: bool = False
    groups: Sequence[request.OffsetFetchRequestGroup] = ()

class request:  # noqa: N801
    class OffsetFetchRequestTopic(Shape):
        name: str = ""
        partition_indexes: Sequence[int] = ()

    class OffsetFetchRequestGroup(Shape):
        group_id: str = ""
        topics: Sequence[request.OffsetFetchRequestTopics] | None = ()
        member_id: str | None = None
        member_epoch: int = -1

    class OffsetFetchRequestTopics(Shape):
        name: str = ""
        partition_indexes: Sequence[int] = ()
        topic_id: bytes = ...

class Response(Shape):
    topics: Sequence[OffsetFetchResponseTopic] = ()
    error_code: int = 0
    throttle_time: int = 0
    groups: Sequence[OffsetFetchResponseGroup] = ()

class OffsetFetchResponseTopic(Shape):
    name: str = ""
    partitions: Sequence[OffsetFetchResponsePartition] = ()

class OffsetFetchResponsePartition(Shape):
    partition_index: int = 0
    committed_offset: int = 0
    metadata: str | None = None
    error_code: int = 0
    committed_leader_epoch: int = -1

class OffsetFetchResponseGroup(Shape):
    group_id: str = ""
    topics: Sequence[OffsetFetchResponseTopics] = ()
    error_code: int = 0

class OffsetFetchResponseTopics(Shape):
    name: str = ""
    partitions: Sequence[OffsetFetchResponsePartitions] = ()
    topic_id: bytes = ...

class OffsetFetchResponsePartitions(Shape):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = None
    error_code: int = 0
