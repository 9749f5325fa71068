"""JoinGroup, versions 0-9. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    session_timeout: int = 0
    member_id: str = ""
    protocol_type: str = ""
    protocols: Sequence[request.JoinGroupRequestProtocol] = ()
    rebalance_timeout: int = -1
    group_instance_id: str | None = None
    reason: str | None = None

class request:  # noqa: N801
    class JoinGroupRequestProtocol(Shape):
        name: str = ""
        metadata: bytes = b""

class Response(Shape):
    error_code: int = 0
    generation_id: int = -1
    protocol_name: str | None = None
    leader: str = ""
    member_id: str = ""
    members: Sequence[JoinGroupResponseMember] = ()
    throttle_time: int = 0
    protocol_type: str | None = None
    skip_assignment: bool = False

class JoinGroupResponseMember(Shape):
    member_id: str = ""
    metadata: bytes = b""
    group_instance_id: str | None = None
