"""Heartbeat, versions 0-4. Made by `python -m lakestream.protocol.kafka.stubs`."""

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None

class Response(Shape):
    error_code: int = 0
    throttle_time: int = 0
