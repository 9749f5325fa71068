"""DescribeGroups, versions 0-6. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    groups: Sequence[str] = ()
    include_authorized_operations: bool = False

class Response(Shape):
    groups: Sequence[DescribedGroup] = ()
    throttle_time: int = 0

class DescribedGroup(Shape):
    error_code: int = 0
    group_id: str = ""
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: Sequence[DescribedGroupMember] = ()
    authorized_operations: int = -2147483648
    error_message: str | None = None

class DescribedGroupMember(Shape):
    member_id: str = ""
    client_id: str = ""
    client_host: str = ""
    member_metadata: bytes = b""
    member_assignment: bytes = b""
    group_instance_id: str | None = None
