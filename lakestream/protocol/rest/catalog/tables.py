"""Tables over REST: list, create, load, commit, register, rename, drop, metrics; commits of several tables at once."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.administration.fresh_reads import FreshReads
from lakestream.catalog.files.metadata_file import MetadataFile, encode_metadata
from lakestream.catalog.names.tables import LoadedTable, TableCatalog
from lakestream.catalog.spec.requests import Once
from lakestream.catalog.spec.values import Metadata, optional, wanted_objects
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.freshness import Freshness
from lakestream.model.table_errors import InvalidTableChange
from lakestream.protocol.rest.catalog.asking import (
    body_of,
    change_of,
    identifier,
    named,
    namespace_of,
    page_of,
)
from lakestream.protocol.rest.catalog.endpoint import (
    NO_CONTENT,
    Answers,
    Endpoints,
    entity_tag,
    is_known,
    loaded_response,
)
from lakestream.protocol.rest.catalog.permit import permit_of
from lakestream.protocol.rest.routing import AccessRoute

UNLISTED_HEADER = "X-Lakestream-Unlisted"
UNLISTED_SHOWN = "show"
"""`lakestream verify` sends this header, because it also verifies tables that the catalog does not show."""
LAG_CONFIG = "lakestream.freshness.lag-records"
"""In the config of a loaded table that is less fresh than its topic promises: the number of missing records."""
_NOT_MODIFIED = 304
_TRUE = "true"

_IN_NAMESPACE = Need(Operation.CREATE, ResourceType.NAMESPACE, or_else=Need(Operation.CREATE, ResourceType.TABLE))
_LIST = (Need(Operation.DESCRIBE, ResourceType.TABLE, scope="each that is listed"),)
_CREATE = (_IN_NAMESPACE,)
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.TABLE),)
_READ = (Need(Operation.READ, ResourceType.TABLE),)
_COMMIT = (
    Need(Operation.WRITE, ResourceType.TABLE, scope="changes of rows"),
    Need(Operation.ALTER, ResourceType.TABLE, scope="changes of schema, layout, properties or references"),
    Need(_IN_NAMESPACE.operation, _IN_NAMESPACE.resource, scope="a new table", or_else=_IN_NAMESPACE.or_else),
)
_RENAME = (Need(Operation.ALTER, ResourceType.TABLE), _IN_NAMESPACE)
_REGISTER = (_IN_NAMESPACE, Need(Operation.DELETE, ResourceType.TABLE, scope="one that is overwritten"))
_DROP = (Need(Operation.DELETE, ResourceType.TABLE),)


class TableRoutes:
    def __init__(self, tables: TableCatalog, endpoints: Endpoints, fresh_reads: FreshReads) -> None:
        self._tables = tables
        self._endpoints = endpoints
        self._fresh_reads = fresh_reads

    def routes(self) -> list[AccessRoute]:
        all, one = "/v1/namespaces/{namespace}/tables", "/v1/namespaces/{namespace}/tables/{table}"
        return [
            self._endpoints.reading(all, self._list, _LIST),
            self._endpoints.changing(all, self._create, Answers.METADATA, _CREATE),
            self._endpoints.reading(one, self._exists, _DESCRIBE, method="HEAD"),
            self._endpoints.reading(one, self._load, _READ),
            self._endpoints.changing(one, self._commit, Answers.METADATA, _COMMIT),
            self._endpoints.changing(one, self._drop, Answers.NOTHING, _DROP, method="DELETE"),
            self._endpoints.reading(f"{one}/metrics", self._metrics, _READ, method="POST"),
            self._endpoints.changing(
                "/v1/namespaces/{namespace}/register", self._register, Answers.METADATA, _REGISTER
            ),
            self._endpoints.changing("/v1/tables/rename", self._rename, Answers.NOTHING, _RENAME),
            self._endpoints.changing("/v1/transactions/commit", self._commit_several, Answers.NOTHING, _COMMIT),
        ]

    async def _list(self, request: Request) -> Response:
        namespace = namespace_of(request)
        names = await self._tables.names(namespace, permit=permit_of(request))
        page = page_of(request, names, names)
        identifiers = [{"namespace": list(namespace), "name": name} for name in page.items]
        return JSONResponse({"identifiers": identifiers, "next-page-token": page.next_token})

    async def _create(self, request: Request, once: Once | None) -> Response:
        namespace, body, permit = namespace_of(request), await body_of(request), permit_of(request)
        if optional(body, "stage-create", bool):
            return JSONResponse({"metadata": await self._tables.stage(namespace, body, permit=permit), "config": {}})
        return loaded_response(await self._tables.create(namespace, body, once=once, permit=permit))

    async def _exists(self, request: Request) -> Response:
        await self._tables.check_exists(*named(request, "table"), Operation.DESCRIBE, permit=permit_of(request))
        return Response(status_code=NO_CONTENT)

    async def _load(self, request: Request) -> Response:
        only_refs = _only_refs(request)
        loaded, lag_records = await self._loaded(request)
        tag = _tag(loaded, only_refs, lag_records)
        if is_known(request, tag):
            return Response(status_code=_NOT_MODIFIED, headers={"ETag": tag})
        file = _with_referenced_snapshots(loaded.file) if only_refs else loaded.file
        return loaded_response(file, tag=tag, config={LAG_CONFIG: str(lag_records)} if lag_records else {})

    async def _loaded(self, request: Request) -> tuple[LoadedTable, int]:
        """The table, and how many records it lacks that it should have by its topic's freshness."""
        unlisted = request.headers.get(UNLISTED_HEADER) == UNLISTED_SHOWN
        table, permit = named(request, "table"), permit_of(request)
        loaded = await self._tables.load(*table, unlisted=unlisted, permit=permit)
        topic = loaded.pointer.topic
        if topic is None or loaded.pointer.freshness is not Freshness.ON_READ:
            return loaded, 0
        fresh = await self._fresh_reads.bring_in(topic)
        if fresh.waited:
            loaded = await self._tables.load(*table, unlisted=unlisted, permit=permit)
        return loaded, fresh.lag_records

    async def _commit(self, request: Request, once: Once | None) -> Response:
        namespace, name = named(request, "table")
        change = change_of(await body_of(request), namespace, name)
        (file,) = await self._tables.commit([change], once=once, permit=permit_of(request))
        return loaded_response(file)

    async def _commit_several(self, request: Request, once: Once | None) -> Response:
        wanted_changes = wanted_objects(await body_of(request), "table-changes")
        await self._tables.commit(
            [change_of(change, *identifier(change, "identifier")) for change in wanted_changes],
            once=once,
            permit=permit_of(request),
        )
        return Response(status_code=NO_CONTENT)

    async def _drop(self, request: Request, once: Once | None) -> Response:
        purge = request.query_params.get("purgeRequested", "false").lower() == _TRUE
        await self._tables.drop(*named(request, "table"), purge=purge, once=once, permit=permit_of(request))
        return Response(status_code=NO_CONTENT)

    async def _register(self, request: Request, once: Once | None) -> Response:
        body, permit = await body_of(request), permit_of(request)
        return loaded_response(await self._tables.register(namespace_of(request), body, once=once, permit=permit))

    async def _rename(self, request: Request, once: Once | None) -> Response:
        body = await body_of(request)
        source, target = identifier(body, "source"), identifier(body, "destination")
        await self._tables.rename(source, target, once=once, permit=permit_of(request))
        return Response(status_code=NO_CONTENT)

    async def _metrics(self, request: Request) -> Response:
        """Engines report what a scan or commit cost them. Lakestream ignores the report."""
        await body_of(request)
        await self._tables.check_exists(*named(request, "table"), Operation.READ, permit=permit_of(request))
        return Response(status_code=NO_CONTENT)


def _only_refs(request: Request) -> bool:
    asked = request.query_params.get("snapshots", "all").lower()
    if asked not in ("all", "refs"):
        raise InvalidTableChange(f"snapshots must be 'all' or 'refs', not {asked!r}")
    return asked == "refs"


def _tag(loaded: LoadedTable, only_refs: bool, lag_records: int) -> str:
    """The tag of a table loaded whole equals the tag in the answers to its creation and its commits."""
    location = loaded.file.location
    if lag_records:
        return entity_tag(location, loaded.branch, only_refs, lag_records)
    return entity_tag(location, loaded.branch, only_refs) if loaded.branch or only_refs else entity_tag(location)


def _with_referenced_snapshots(file: MetadataFile) -> MetadataFile:
    referenced = {ref["snapshot-id"] for ref in (file.metadata.get("refs") or {}).values()}
    referenced.add(file.metadata.get("current-snapshot-id"))  # a table from before refs has only this
    snapshots = [one for one in file.metadata.get("snapshots") or [] if one["snapshot-id"] in referenced]
    metadata: Metadata = {**file.metadata, "snapshots": snapshots}
    return MetadataFile(file.location, encode_metadata(metadata), metadata)
