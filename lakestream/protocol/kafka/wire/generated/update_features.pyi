"""UpdateFeatures, versions 0-2. Made by `python -m lakestream.protocol.kafka.stubs`."""

from collections.abc import Sequence

from lakestream.protocol.kafka.wire.shapes import Shape

class Request(Shape):
    timeout: int = 60000
    feature_updates: Sequence[request.FeatureUpdateKey] = ()
    validate_only: bool = False

class request:  # noqa: N801
    class FeatureUpdateKey(Shape):
        feature: str = ""
        max_version_level: int = 0
        allow_downgrade: bool = False
        upgrade_type: int = 1

class Response(Shape):
    throttle_time: int = 0
    error_code: int = 0
    error_message: str | None = None
    results: Sequence[UpdatableFeatureResult] = ()

class UpdatableFeatureResult(Shape):
    feature: str = ""
    error_code: int = 0
    error_message: str | None = None
