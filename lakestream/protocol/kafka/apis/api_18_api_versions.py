"""ApiVersions (18), versions 0-4: the APIs that this broker serves; the first request of a client.

- Lists the APIs of the listener, with the ranges that clients should see.
- A version above 4 is answered in the layout of version 0 with UNSUPPORTED_VERSION (KIP-511). The connection does that
  before the request gets here, since it cannot decode the request.
- Three features are finalized: group.version 1, the newer group protocol; share.version 1, share groups; and
  transaction.version 2 (KIP-890).

v3 flexible, with the client's name and version, which must look like a name.
"""

from __future__ import annotations

import re

from lakestream.model.access import ANYONE
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.kafka.api import Api, RequestContext
from lakestream.protocol.kafka.wire.generated import api_versions

SOFTWARE_FROM_VERSION = 3
FEATURES = {"group.version": 1, "share.version": 1, "transaction.version": 2}
FEATURES_EPOCH = 1
"""The epoch of the features, which never change. Clients ignore features that come with a negative epoch."""
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")


async def handle(request: api_versions.Request, context: RequestContext) -> api_versions.Response:
    if context.api_version >= SOFTWARE_FROM_VERSION:
        for text in (request.client_software_name, request.client_software_version):
            if _SOFTWARE.fullmatch(text) is None:
                raise InvalidRequest(f"'{text}' is no name or version of a client: use letters, digits, '-' and '.'")
    return api_versions.Response(
        api_keys=_ranges(context),
        supported_features=[
            api_versions.SupportedFeatureKey(name=name, min_version=version, max_version=version)
            for name, version in FEATURES.items()
        ],
        finalized_features_epoch=FEATURES_EPOCH,
        finalized_features=[
            api_versions.FinalizedFeatureKey(name=name, min_version_level=version, max_version_level=version)
            for name, version in FEATURES.items()
        ],
    )


def _ranges(context: RequestContext) -> list[api_versions.ApiVersion]:
    return [
        api_versions.ApiVersion(api_key=api.key, min_version=api.advertised[0], max_version=api.advertised[1])
        for api in context.apis
    ]


def error_response(
    request: api_versions.Request, context: RequestContext, code: int, message: str
) -> api_versions.Response:
    return api_versions.Response(error_code=code, api_keys=_ranges(context))


API = Api(key=18, name="ApiVersions", versions=(0, 4), needs=ANYONE, handle=handle, error_response=error_response)
