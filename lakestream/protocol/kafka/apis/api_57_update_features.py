"""UpdateFeatures (57), versions 0-2: accepted where it changes nothing.

- The features and their levels are those of the running version (ApiVersions). A request for the level that is there is
  fulfilled; any other is FEATURE_UPDATE_FAILED with the reason.
- One failure fails the whole request from version 2 on, as in Apache Kafka.

v1 types of upgrades, and validation alone. v2 one error for all.
"""

from __future__ import annotations

from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.apis.api_18_api_versions import FEATURES
from lakestream.protocol.kafka.errors import KafkaError, Refused
from lakestream.protocol.kafka.wire.generated import update_features

WHOLE_FROM_VERSION = 2


async def handle(request: update_features.Request, context: RequestContext) -> update_features.Response:
    results = [_result(each) for each in request.feature_updates]
    failed = next((each for each in results if each.error_code), None)
    if failed is not None and context.api_version >= WHOLE_FROM_VERSION:
        raise Refused(KafkaError.FEATURE_UPDATE_FAILED, failed.error_message or "")
    return update_features.Response(results=results if context.api_version < WHOLE_FROM_VERSION else [])


def _result(asked: update_features.request.FeatureUpdateKey) -> update_features.UpdatableFeatureResult:
    result = update_features.UpdatableFeatureResult(feature=asked.feature)
    level = FEATURES.get(asked.feature)
    if level != asked.max_version_level:
        there = "does not exist" if level is None else f"is at level {level}, as the version of Lakestream decides"
        result.error_code = KafkaError.FEATURE_UPDATE_FAILED
        result.error_message = f"feature '{asked.feature}' {there}: it cannot be set to {asked.max_version_level}"
    return result


def error_response(
    request: update_features.Request, context: RequestContext, code: int, message: str
) -> update_features.Response:
    results = [
        update_features.UpdatableFeatureResult(feature=each.feature, error_code=code, error_message=message)
        for each in request.feature_updates
    ]
    return update_features.Response(
        error_code=code, error_message=message, results=results if context.api_version < WHOLE_FROM_VERSION else []
    )


API = Api(
    key=57,
    name="UpdateFeatures",
    versions=(0, 2),
    needs=(Need(Operation.ALTER, ResourceType.CLUSTER),),
    handle=handle,
    error_response=error_response,
)
