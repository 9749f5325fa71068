"""DescribeConfigs, versions 1-4. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    resources: Sequence[request.DescribeConfigsResource] = ()
    include_synonyms: bool = False
    include_documentation: bool = False

class request:  # noqa: N801
    class DescribeConfigsResource(Shape):
        resource_type: int = 0
        resource_name: str = ""
        configuration_keys: Sequence[str] | None = ()

class Response(Shape):
    throttle_time: int = 0
    results: Sequence[DescribeConfigsResult] = ()

class DescribeConfigsResult(Shape):
    error_code: int = 0
    error_message: str | None = None
    resource_type: int = 0
    resource_name: str = ""
    configs: Sequence[DescribeConfigsResourceResult] = ()

class DescribeConfigsResourceResult(Shape):
    name: str = ""
    value: str | None = None
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    synonyms: Sequence[DescribeConfigsSynonym] = ()
    config_type: int = 0
    documentation: str | None = None

class DescribeConfigsSynonym(Shape):
    name: str = ""
    value: str | None = None
    source: int = 0
