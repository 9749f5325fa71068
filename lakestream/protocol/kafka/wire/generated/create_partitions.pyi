"""CreatePartitions, versions 0-3. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topics: Sequence[request.CreatePartitionsTopic] = ()
    timeout: int = 0
    validate_only: bool = False

class request:  # noqa: N801
    class CreatePartitionsTopic(Shape):
        name: str = ""
        count: int = 0
        assignments: Sequence[request.CreatePartitionsAssignment] | None = ()

    class CreatePartitionsAssignment(Shape):
        broker_ids: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[CreatePartitionsTopicResult] = ()

class CreatePartitionsTopicResult(Shape):
    name: str = ""
    error_code: int = 0
    error_message: str | None = None
