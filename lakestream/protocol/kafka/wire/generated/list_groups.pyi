"""ListGroups, versions 0-5. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    states_filter: Sequence[str] = ()
    types_filter: Sequence[str] = ()

class Response(Shape):
    error_code: int = 0
    groups: Sequence[ListedGroup] = ()
    throttle_time: int = 0

class ListedGroup(Shape):
    group_id: str = ""
    protocol_type: str = ""
    group_state: str = ""
    group_type: str = ""
