"""Produce, versions 3-13. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.records import Buffer
from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    transactional_id: str | None = None
    acks: int = 0
    timeout: int = 0
    topic_data: Sequence[request.TopicProduceData] = ()

class request:  # noqa: N801
    class TopicProduceData(Shape):
        name: str = ""
        partition_data: Sequence[request.PartitionProduceData] = ()
        topic_id: bytes = ...

    class PartitionProduceData(Shape):
        index: int = 0
        records: Buffer | None = None

class Response(Shape):
    responses: Sequence[TopicProduceResponse] = ()
    throttle_time: int = 0
    node_endpoints: Sequence[NodeEndpoint] = ()

class TopicProduceResponse(Shape):
    name: str = ""
    partition_responses: Sequence[PartitionProduceResponse] = ()
    topic_id: bytes = ...

class PartitionProduceResponse(Shape):
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time: int = -1
    log_start_offset: int = -1
    record_errors: Sequence[BatchIndexAndErrorMessage] = ()
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch = ...

class BatchIndexAndErrorMessage(Shape):
    batch_index: int = 0
    batch_index_error_message: str | None = None

class LeaderIdAndEpoch(Shape):
    leader_id: int = -1
    leader_epoch: int = -1

class NodeEndpoint(Shape):
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None
