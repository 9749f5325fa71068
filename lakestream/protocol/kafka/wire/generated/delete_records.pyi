"""DeleteRecords, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.DeleteRecordsTopic] = ()
    timeout: int = 0

class request:  # noqa: N801
    class DeleteRecordsTopic(Shape):
        name: str = ""
        partitions: Sequence[request.DeleteRecordsPartition] = ()

    class DeleteRecordsPartition(Shape):
        partition_index: int = 0
        offset: int = 0

class Response(Shape):
    throttle_time: int = 0
    topics: Sequence[DeleteRecordsTopicResult] = ()

class DeleteRecordsTopicResult(Shape):
    name: str = ""
    partitions: Sequence[DeleteRecordsPartitionResult] = ()

class DeleteRecordsPartitionResult(Shape):
    partition_index: int = 0
    low_watermark: int = 0
    error_code: int = 0
