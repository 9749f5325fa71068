"""SyncGroup, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    assignments: Sequence[request.SyncGroupRequestAssignment] = ()
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None

class request:  # noqa: N801
    class SyncGroupRequestAssignment(Shape):
        member_id: str = ""
        assignment: bytes = b""

class Response(Shape):
    error_code: int = 0
    assignment: bytes = b""
    throttle_time: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
