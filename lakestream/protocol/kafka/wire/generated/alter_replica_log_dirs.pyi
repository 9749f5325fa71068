"""AlterReplicaLogDirs, versions 1-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    dirs: Sequence[request.AlterReplicaLogDir] = ()

class request:  # noqa: N801
    class AlterReplicaLogDir(Shape):
        path: str = ""
        topics: Sequence[request.AlterReplicaLogDirTopic] = ()

    class AlterReplicaLogDirTopic(Shape):
        name: str = ""
        partitions: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[AlterReplicaLogDirTopicResult] = ()

class AlterReplicaLogDirTopicResult(Shape):
    topic_name: str = ""
    partitions: Sequence[AlterReplicaLogDirPartitionResult] = ()

class AlterReplicaLogDirPartitionResult(Shape):
    partition_index: int = 0
    error_code: int = 0
