"""Fetch, versions 4-18. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.records import Records
from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    replica_id: int = -1
    max_wait: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    topics: Sequence[request.FetchTopic] = ()
    session_id: int = 0
    session_epoch: int = -1
    forgotten_topics_data: Sequence[request.ForgottenTopic] = ()
    rack_id: str = ""
    cluster_id: str | None = None
    replica_state: request.ReplicaState = ...

class request:  # noqa: N801
    class FetchTopic(Shape):
        topic: str = ""
        partitions: Sequence[request.FetchPartition] = ()
        topic_id: bytes = ...

    class FetchPartition(Shape):
        partition: int = 0
        fetch_offset: int = 0
        partition_max_bytes: int = 0
        log_start_offset: int = -1
        current_leader_epoch: int = -1
        last_fetched_epoch: int = -1
        replica_directory_id: bytes = ...
        high_watermark: int = 9223372036854775807

    class ForgottenTopic(Shape):
        topic: str = ""
        partitions: Sequence[int] = ()
        topic_id: bytes = ...

    class ReplicaState(Shape):
        replica_id: int = -1
        replica_epoch: int = -1

class Response(Shape):
    throttle_time: int = 0
    responses: Sequence[FetchableTopicResponse] = ()
    error_code: int = 0
    session_id: int = 0
    node_endpoints: Sequence[NodeEndpoint] = ()

class FetchableTopicResponse(Shape):
    topic: str = ""
    partitions: Sequence[PartitionData] = ()
    topic_id: bytes = ...

class PartitionData(Shape):
    partition_index: int = 0
    error_code: int = 0
    high_watermark: int = 0
    last_stable_offset: int = -1
    aborted_transactions: Sequence[AbortedTransaction] | None = ()
    records: Records | None = None
    log_start_offset: int = -1
    preferred_read_replica: int = -1
    diverging_epoch: EpochEndOffset = ...
    current_leader: LeaderIdAndEpoch = ...
    snapshot_id: SnapshotId = ...

class AbortedTransaction(Shape):
    producer_id: int = 0
    first_offset: int = 0

class EpochEndOffset(Shape):
    epoch: int = -1
    end_offset: int = -1

class LeaderIdAndEpoch(Shape):
    leader_id: int = -1
    leader_epoch: int = -1

class SnapshotId(Shape):
    end_offset: int = -1
    epoch: int = -1

class NodeEndpoint(Shape):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
