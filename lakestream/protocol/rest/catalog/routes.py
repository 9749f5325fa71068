"""The routes of the catalog: `Mount("/iceberg", routes=catalog_routes(...))`.

GET /v1/config names every endpoint that is served, so that clients do not try others.
"""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.administration.fresh_reads import FreshReads
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.names.views import ViewCatalog
from lakestream.metadata.table_store import TableStore
from lakestream.model.access import ANYONE
from lakestream.model.table_errors import UnknownNamespace
from lakestream.protocol.rest.catalog.endpoint import IDEMPOTENCY_KEY_LIFETIME, Endpoints
from lakestream.protocol.rest.catalog.errors import RestError, error_answer, error_response
from lakestream.protocol.rest.catalog.namespaces import NamespaceRoutes
from lakestream.protocol.rest.catalog.tables import TableRoutes
from lakestream.protocol.rest.catalog.views import ViewRoutes
from lakestream.protocol.rest.paths import CATALOG_PATH
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

_NAMELESS = "/v1/namespaces//"
"""Engines request this path if a query says `orders.snapshots` and means `streams.orders.snapshots`."""
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


def catalog_routes(
    *,
    store: TableStore,
    objects: TableObjects,
    files: MetadataFiles,
    clock: Clock,
    ids: Ids,
    tables: TableCatalog,
    fresh_reads: FreshReads,
) -> list[AccessRoute]:
    """All routes below CATALOG_PATH. `files` belongs to the whole process, so that it caches metadata once."""
    endpoints = Endpoints(store=store, files=files)
    views = ViewCatalog(store=store, objects=objects, files=files, clock=clock, ids=ids)
    served = [
        *NamespaceRoutes(store, endpoints).routes(),
        *TableRoutes(tables, endpoints, fresh_reads).routes(),
        *ViewRoutes(views, endpoints).routes(),
    ]
    return [_config_route(served), *served, *_unserved_routes()]


def endpoint_names(routes: Sequence[AccessRoute]) -> list[str]:
    """Endpoints in the specification's notation: 'GET /v1/{prefix}/namespaces'."""
    return [
        f"{method} {route.path.replace('/v1/', '/v1/{prefix}/', 1)}"
        for route in routes
        for method in sorted(route.methods or ())
        if method != "HEAD" or "GET" not in (route.methods or ())
    ]


def _unserved_routes() -> list[AccessRoute]:
    """Routes that answer any other path with an error in the specification's form."""

    async def answer(request: Request) -> Response:
        if _NAMELESS in request.url.path:
            return error_response(UnknownNamespace("there is no namespace without a name: write namespace.table"))
        message = f"{request.method} {request.url.path} is not served: GET {CATALOG_PATH}/v1/config lists what is"
        return error_answer(RestError(404, "NotFoundException"), message)

    return [AccessRoute("/{path:path}", answer, needs=ANYONE, methods=_METHODS)]


def _config_route(served: Sequence[AccessRoute]) -> AccessRoute:
    config = {
        "defaults": {},
        "overrides": {},
        "endpoints": endpoint_names(served),
        "idempotency-key-lifetime": IDEMPOTENCY_KEY_LIFETIME,
    }

    async def answer(request: Request) -> Response:
        return JSONResponse(config)

    return AccessRoute("/v1/config", answer, needs=ANYONE)
