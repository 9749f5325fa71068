"""ShareAcknowledge, versions 1-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str | None = None
    member_id: str | None = None
    share_session_epoch: int = 0
    topics: Sequence[request.AcknowledgeTopic] = ()
    is_renew_ack: bool = False

class request:  # noqa: N801
    class AcknowledgeTopic(Shape):
        topic_id: bytes = ...
        partitions: Sequence[request.AcknowledgePartition] = ()

    class AcknowledgePartition(Shape):
        partition_index: int = 0
        acknowledgement_batches: Sequence[request.AcknowledgementBatch] = ()

    class AcknowledgementBatch(Shape):
        first_offset: int = 0
        last_offset: int = 0
        acknowledge_types: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: Sequence[ShareAcknowledgeTopicResponse] = ()
    node_endpoints: Sequence[NodeEndpoint] = ()
    acquisition_lock_timeout: int = 0

class ShareAcknowledgeTopicResponse(Shape):
    topic_id: bytes = ...
    partitions: Sequence[PartitionData] = ()

class PartitionData(Shape):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch = ...

class LeaderIdAndEpoch(Shape):
    leader_id: int = 0
    leader_epoch: int = 0

class NodeEndpoint(Shape):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
