"""/admin/summary: the cluster in a few numbers, with warnings first. /admin/catalog: what the catalog holds."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.catalog_listing import CatalogListing, ListedNamespace
from lakestream.administration.summary import ClusterSummary, Summaries
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.protocol.rest.access.rights import Rights, rights_of
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.catalog.permit import listed_resource
from lakestream.protocol.rest.routing import AccessRoute

LOOK_AT_SUMMARY = (
    Need(Operation.DESCRIBE, ResourceType.CLUSTER),
    Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),
)
_HIDDEN_ARE_LATE = "tables that you are not shown are behind their promised freshness"
LOOK_AT_CATALOG = (
    Need(Operation.DESCRIBE, ResourceType.NAMESPACE, scope="each that is listed"),
    Need(Operation.DESCRIBE, ResourceType.TABLE, scope="each that is listed"),
)


def summary_routes(summaries: Summaries, catalog: CatalogListing) -> list[AccessRoute]:
    async def look(request: Request) -> Response:
        return await answered(_summary(summaries, rights_of(request)))

    async def listing(request: Request) -> Response:
        return await answered(_listing(catalog, rights_of(request)))

    return [
        AccessRoute("/admin/summary", look, needs=LOOK_AT_SUMMARY),
        AccessRoute("/admin/catalog", listing, needs=LOOK_AT_CATALOG),
    ]


def shown_summary(summary: ClusterSummary, rights: Rights) -> ClusterSummary:
    """Without names of topics that the caller may not describe. Numbers are the cluster's."""
    late = tuple(one for one in summary.late if rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, one.topic)))
    hidden = [one.topic for one in summary.late if one not in late]
    if not hidden:
        return summary
    warnings = tuple(one for one in summary.warnings if not any(topic in one for topic in hidden))
    return replace(summary, late=late, warnings=(*warnings, _HIDDEN_ARE_LATE))


def shown_listing(listing: Sequence[ListedNamespace], rights: Rights) -> list[ListedNamespace]:
    """Tables that the caller may describe, in namespaces that it may describe or that have such a table."""
    found = []
    for one in listing:
        namespace = tuple(one.name.split("."))
        tables = tuple(
            table for table in one.tables if rights.shows(Operation.DESCRIBE, listed_resource(namespace, table))
        )
        if tables or rights.shows(Operation.DESCRIBE, (ResourceType.NAMESPACE, one.name)):
            found.append(replace(one, tables=tables))
    return found


async def _summary(summaries: Summaries, rights: Rights) -> dict[str, Any]:
    return asdict(shown_summary(await summaries.look(), rights))


async def _listing(catalog: CatalogListing, rights: Rights) -> dict[str, Any]:
    return {
        "namespaces": [
            {
                "namespace": one.name,
                "tables": [{"name": table.name, "kind": table.kind.name.lower()} for table in one.tables],
            }
            for one in shown_listing(await catalog.look(), rights)
        ]
    }
