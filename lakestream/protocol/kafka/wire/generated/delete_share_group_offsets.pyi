"""DeleteShareGroupOffsets, versions 0-0. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    topics: Sequence[request.DeleteShareGroupOffsetsRequestTopic] = ()

class request:  # noqa: N801
    class DeleteShareGroupOffsetsRequestTopic(Shape):
        topic_name: str = ""

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: Sequence[DeleteShareGroupOffsetsResponseTopic] = ()

class DeleteShareGroupOffsetsResponseTopic(Shape):
    topic_name: str = ""
    topic_id: bytes = ...
    error_code: int = 0
    error_message: str | None = None
