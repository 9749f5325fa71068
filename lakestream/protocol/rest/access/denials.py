"""Which of a route's needs a caller does not have, and the answer in the words of the face that was asked.

A need counts as met if the caller has the right on all resources of its type.
"""

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from lakestream.access.access import Access
from lakestream.model.access import Need, Needs, ResourceType
from lakestream.model.acl import CLUSTER_NAME, EVERY
from lakestream.protocol.rest.paths import CATALOG_PATH, REGISTRY_PATH

FORBIDDEN = 403
REGISTRY_CODE = 40301


def denied_need(needs: Needs, access: Access) -> Need | None:
    return next((need for need in needs if not _is_met(need, access)), None)


def _is_met(need: Need, access: Access) -> bool:
    name = CLUSTER_NAME if need.resource is ResourceType.CLUSTER else EVERY
    if need.or_else is not None and _is_met(need.or_else, access):
        return True
    return access.allows(need.operation, need.resource, name)


def denied_answer(scope: Scope, need: Need) -> Response:
    operation = need.operation.name.title().replace("_", "")
    message = f"{operation} on {need.resource.value} is needed, which is not granted"
    mounted_at = scope.get("root_path", "")
    if mounted_at.startswith(CATALOG_PATH):
        error = {"message": message, "type": "ForbiddenException", "code": FORBIDDEN}
        return JSONResponse({"error": error}, status_code=FORBIDDEN)
    if mounted_at.startswith(REGISTRY_PATH):
        return JSONResponse({"error_code": REGISTRY_CODE, "message": message}, status_code=FORBIDDEN)
    return JSONResponse({"error": message}, status_code=FORBIDDEN)
