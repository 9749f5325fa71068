"""OffsetForLeaderEpoch, versions 2-4. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.OffsetForLeaderTopic] = ()
    replica_id: int = -2

class request:  # noqa: N801
    class OffsetForLeaderTopic(Shape):
        topic: str = ""
        partitions: Sequence[request.OffsetForLeaderPartition] = ()

    class OffsetForLeaderPartition(Shape):
        partition: int = 0
        current_leader_epoch: int = -1
        leader_epoch: int = 0

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[OffsetForLeaderTopicResult] = ()

class OffsetForLeaderTopicResult(Shape):
    topic: str = ""
    partitions: Sequence[EpochEndOffset] = ()

class EpochEndOffset(Shape):
    error_code: int = 0
    partition: int = 0
    leader_epoch: int = -1
    end_offset: int = -1
