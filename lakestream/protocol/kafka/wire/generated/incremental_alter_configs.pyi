"""IncrementalAlterConfigs, versions 0-1. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    resources: Sequence[request.AlterConfigsResource] = ()
    validate_only: bool = False

class request:  # noqa: N801
    class AlterConfigsResource(Shape):
        resource_type: int = 0
        resource_name: str = ""
        configs: Sequence[request.AlterableConfig] = ()

    class AlterableConfig(Shape):
        name: str = ""
        config_operation: int = 0
        value: str | None = None

class Response(Shape):
    throttle_time: int = 0
    responses: Sequence[AlterConfigsResourceResponse] = ()

class AlterConfigsResourceResponse(Shape):
    error_code: int = 0
    error_message: str | None = None
    resource_type: int = 0
    resource_name: str = ""
