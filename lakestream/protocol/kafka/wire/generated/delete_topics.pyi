"""DeleteTopics, versions 1-6. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    topic_names: Sequence[str] = ()
    timeout: int = 0
    topics: Sequence[request.DeleteTopicState] = ()

class request:  # noqa: N801
    class DeleteTopicState(Shape):
        name: str | None = None
        topic_id: bytes = ...

class Response(Shape):
    throttle_time: int = 0
    responses: Sequence[DeletableTopicResult] = ()

class DeletableTopicResult(Shape):
    name: str | None = None
    error_code: int = 0
    error_message: str | None = None
    topic_id: bytes = ...
