"""ElectLeaders, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topic_partitions: Sequence[request.TopicPartitions] | None = ()
    timeout: int = 60000
    election_type: int = 0

class request:  # noqa: N801
    class TopicPartitions(Shape):
        topic: str = ""
        partitions: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    replica_election_results: Sequence[ReplicaElectionResult] = ()
    error_code: int = 0

class ReplicaElectionResult(Shape):
    topic: str = ""
    partition_result: Sequence[PartitionResult] = ()

class PartitionResult(Shape):
    partition_id: int = 0
    error_code: int = 0
    error_message: str | None = None
