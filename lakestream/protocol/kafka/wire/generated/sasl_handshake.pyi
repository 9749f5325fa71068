"""SaslHandshake, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    mechanism: str = ""

class Response(Shape):
    error_code: int = 0
    mechanisms: Sequence[str] = ()
