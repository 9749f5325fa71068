"""WriteTxnMarkers, versions 1-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    markers: Sequence[request.WritableTxnMarker] = ()

class request:  # noqa: N801
    class WritableTxnMarker(Shape):
        producer_id: int = 0
        producer_epoch: int = 0
        transaction_result: bool = False
        topics: Sequence[request.WritableTxnMarkerTopic] = ()
        coordinator_epoch: int = 0
        transaction_version: int = 0

    class WritableTxnMarkerTopic(Shape):
        name: str = ""
        partition_indexes: Sequence[int] = ()

class Response(Shape):
    markers: Sequence[WritableTxnMarkerResult] = ()

class WritableTxnMarkerResult(Shape):
    producer_id: int = 0
    topics: Sequence[WritableTxnMarkerTopicResult] = ()

class WritableTxnMarkerTopicResult(Shape):
    name: str = ""
    partitions: Sequence[WritableTxnMarkerPartitionResult] = ()

class WritableTxnMarkerPartitionResult(Shape):
    partition_index: int = 0
    error_code: int = 0
