"""SaslAuthenticate, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    auth_bytes: bytes = b""

class Response(Shape):
    error_code: int = 0
    error_message: str | None = None
    auth_bytes: bytes = b""
    session_lifetime: int = 0
