"""ListConfigResources, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    resource_types: Sequence[int] = ()

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    config_resources: Sequence[ConfigResource] = ()

class ConfigResource(Shape):
    resource_name: str = ""
    resource_type: int = 16
