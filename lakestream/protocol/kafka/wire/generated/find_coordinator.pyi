"""FindCoordinator, versions 0-6. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    key: str = ""
    key_type: int = 0
    coordinator_keys: Sequence[str] = ()

class Response(Shape):
    error_code: int = 0
    node_id: int = 0
    host: str = ""
    port: int = 0
    throttle_time: int = 0
    error_message: str | None = None
    coordinators: Sequence[Coordinator] = ()

class Coordinator(Shape):
    key: str = ""
    node_id: int = 0
    host: str = ""
    port: int = 0
    error_code: int = 0
    error_message: str | None = None
