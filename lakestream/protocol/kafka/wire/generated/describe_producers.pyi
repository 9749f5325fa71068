"""DescribeProducers, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.TopicRequest] = ()

class request:  # noqa: N801
    class TopicRequest(Shape):
        name: str = ""
        partition_indexes: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[TopicResponse] = ()

class TopicResponse(Shape):
    name: str = ""
    partitions: Sequence[PartitionResponse] = ()

class PartitionResponse(Shape):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    active_producers: Sequence[ProducerState] = ()

class ProducerState(Shape):
    producer_id: int = 0
    producer_epoch: int = 0
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = 0
    current_txn_start_offset: int = -1
