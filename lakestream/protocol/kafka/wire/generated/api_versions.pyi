"""ApiVersions, versions 0-4. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    client_software_name: str = ""
    client_software_version: str = ""

class Response(Shape):
    error_code: int = 0
    api_keys: Sequence[ApiVersion] = ()
    throttle_time: int = 0
    supported_features: Sequence[SupportedFeatureKey] = ()
    finalized_features_epoch: int = -1
    finalized_features: Sequence[FinalizedFeatureKey] = ()
    zk_migration_ready: bool = False

class ApiVersion(Shape):
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0

class SupportedFeatureKey(Shape):
    name: str = ""
    min_version: int = 0
    max_version: int = 0

class FinalizedFeatureKey(Shape):
    name: str = ""
    max_version_level: int = 0
    min_version_level: int = 0
