"""DeleteGroups, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    groups_names: Sequence[str] = ()

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[DeletableGroupResult] = ()

class DeletableGroupResult(Shape):
    group_id: str = ""
    error_code: int = 0
