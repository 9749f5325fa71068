"""CreateAcls, versions 1-3. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    creations: Sequence[request.AclCreation] = ()

class request:  # noqa: N801
    class AclCreation(Shape):
        resource_type: int = 0
        resource_name: str = ""
        resource_pattern_type: int = 3
        principal: str = ""
        host: str = ""
        operation: int = 0
        permission_type: int = 0

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[AclCreationResult] = ()

class AclCreationResult(Shape):
    error_code: int = 0
    error_message: str | None = None
