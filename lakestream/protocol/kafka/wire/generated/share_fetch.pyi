"""ShareFetch, versions 1-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.records import Records
from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str | None = None
    member_id: str | None = None
    share_session_epoch: int = 0
    max_wait: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    max_records: int = 0
    batch_size: int = 0
    topics: Sequence[request.FetchTopic] = ()
    forgotten_topics_data: Sequence[request.ForgottenTopic] = ()
    share_acquire_mode: int = 0
    is_renew_ack: bool = False

class request:  # noqa: N801
    class FetchTopic(Shape):
        topic_id: bytes = ...
        partitions: Sequence[request.FetchPartition] = ()

    class FetchPartition(Shape):
        partition_index: int = 0
        acknowledgement_batches: Sequence[request.AcknowledgementBatch] = ()

    class AcknowledgementBatch(Shape):
        first_offset: int = 0
        last_offset: int = 0
        acknowledge_types: Sequence[int] = ()

    class ForgottenTopic(Shape):
        topic_id: bytes = ...
        partitions: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    acquisition_lock_timeout: int = 0
    responses: Sequence[ShareFetchableTopicResponse] = ()
    node_endpoints: Sequence[NodeEndpoint] = ()

class ShareFetchableTopicResponse(Shape):
    topic_id: bytes = ...
    partitions: Sequence[PartitionData] = ()

class PartitionData(Shape):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    acknowledge_error_code: int = 0
    acknowledge_error_message: str | None = None
    current_leader: LeaderIdAndEpoch = ...
    records: Records = b""
    acquired_records: Sequence[AcquiredRecords] = ()

class LeaderIdAndEpoch(Shape):
    leader_id: int = 0
    leader_epoch: int = 0

class AcquiredRecords(Shape):
    first_offset: int = 0
    last_offset: int = 0
    delivery_count: int = 0

class NodeEndpoint(Shape):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
