"""DescribeLogDirs, versions 1-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.DescribableLogDirTopic] | None = ()

class request:  # noqa: N801
    class DescribableLogDirTopic(Shape):
        topic: str = ""
        partitions: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[DescribeLogDirsResult] = ()
    error_code: int = 0

class DescribeLogDirsResult(Shape):
    error_code: int = 0
    log_dir: str = ""
    topics: Sequence[DescribeLogDirsTopic] = ()
    total_bytes: int = -1
    usable_bytes: int = -1
    is_cordoned: bool = False

class DescribeLogDirsTopic(Shape):
    name: str = ""
    partitions: Sequence[DescribeLogDirsPartition] = ()

class DescribeLogDirsPartition(Shape):
    partition_index: int = 0
    partition_size: int = 0
    offset_lag: int = 0
    is_future_key: bool = False
