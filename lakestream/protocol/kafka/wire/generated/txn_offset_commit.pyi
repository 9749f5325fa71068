"""TxnOffsetCommit, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    topics: Sequence[request.TxnOffsetCommitRequestTopic] = ()
    generation_id: int = -1
    member_id: str = ""
    group_instance_id: str | None = None

class request:  # noqa: N801
    class TxnOffsetCommitRequestTopic(Shape):
        name: str = ""
        partitions: Sequence[request.TxnOffsetCommitRequestPartition] = ()

    class TxnOffsetCommitRequestPartition(Shape):
        partition_index: int = 0
        committed_offset: int = 0
        committed_metadata: str | None = None
        committed_leader_epoch: int = -1

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[TxnOffsetCommitResponseTopic] = ()

class TxnOffsetCommitResponseTopic(Shape):
    name: str = ""
    partitions: Sequence[TxnOffsetCommitResponsePartition] = ()

class TxnOffsetCommitResponsePartition(Shape):
    partition_index: int = 0
    error_code: int = 0
