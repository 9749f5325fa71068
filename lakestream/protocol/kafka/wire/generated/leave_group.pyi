"""LeaveGroup, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    member_id: str = ""
    members: Sequence[request.MemberIdentity] = ()

class request:  # noqa: N801
    class MemberIdentity(Shape):
        member_id: str = ""
        group_instance_id: str | None = None
        reason: str | None = None

class Response(Shape):
    error_code: int = 0
    throttle_time: int = 0
    members: Sequence[MemberResponse] = ()

class MemberResponse(Shape):
    member_id: str = ""
    group_instance_id: str | None = None
    error_code: int = 0
