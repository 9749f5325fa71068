"""/admin/summary: the cluster in a few numbers, with warnings first. /admin/catalog: what the catalog holds."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.catalog_listing import CatalogListing
from lakestream.administration.summary import Summaries
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.routing import AccessRoute

LOOK_AT_SUMMARY = (
    Need(Operation.DESCRIBE, ResourceType.CLUSTER),
    Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
)
LOOK_AT_CATALOG = (
    Need(Operation.DESCRIBE, ResourceType.NAMESPACE, scope="each that is listed"),
    Need(Operation.DESCRIBE, ResourceType.TABLE, scope="each that is listed"),
)


def summary_routes(summaries: Summaries, catalog: CatalogListing) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_summary(summaries))

    async def listing(request: Request) -> Response:
        return await answered(_listing(catalog))

    return [
        AccessRoute("/admin/summary", look, needs=LOOK_AT_SUMMARY),
        AccessRoute("/admin/catalog", listing, needs=LOOK_AT_CATALOG),
    ]


async def _summary(summaries: Summaries) -> dict[str, Any]:
    return asdict(await summaries.look())


async def _listing(catalog: CatalogListing) -> dict[str, Any]:
    return {
        "namespaces": [
            {
                "namespace": one.name,
                "tables": [{"name": table.name, "kind": table.kind.name.lower()} for table in one.tables],
            }
            for one in await catalog.look()
        ]
    }
