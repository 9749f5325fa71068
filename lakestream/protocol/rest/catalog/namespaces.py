"""Namespaces over REST: list, create, load, change properties, drop."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.catalog.spec.requests import Once, checked_namespace, receipt_of
from lakestream.catalog.spec.values import Json, wanted_strings, wanted_texts
from lakestream.metadata.rules.missing import shown_namespace
from lakestream.metadata.table_store import TableStore, joined
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.model.table import STREAMS, Namespace
from lakestream.model.table_errors import CommitConflict
from lakestream.protocol.rest.access.rights import Rights, rights_of
from lakestream.protocol.rest.catalog.asking import body_of, namespace_of, page_of, parent_of
from lakestream.protocol.rest.catalog.endpoint import NO_CONTENT, Answers, Endpoints
from lakestream.protocol.rest.catalog.errors import Unprocessable
from lakestream.protocol.rest.catalog.permit import listed_resource
from lakestream.protocol.rest.routing import AccessRoute

_ATTEMPTS_MAX = 4
_IN_IT = Need(Operation.DESCRIBE, ResourceType.TABLE, scope="any one in it")
_LIST = (Need(Operation.DESCRIBE, ResourceType.NAMESPACE, scope="each that is listed", or_else=_IN_IT),)
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.NAMESPACE, or_else=_IN_IT),)
_CREATE = (Need(Operation.CREATE, ResourceType.CLUSTER, or_else=Need(Operation.CREATE, ResourceType.NAMESPACE)),)
_ALTER = (Need(Operation.ALTER, ResourceType.NAMESPACE),)
_DELETE = (Need(Operation.DELETE, ResourceType.NAMESPACE),)


class NamespaceRoutes:
    def __init__(self, store: TableStore, endpoints: Endpoints) -> None:
        self._store = store
        self._endpoints = endpoints

    def routes(self) -> list[AccessRoute]:
        one = "/v1/namespaces/{namespace}"
        return [
            self._endpoints.reading("/v1/namespaces", self._list, _LIST),
            self._endpoints.changing("/v1/namespaces", self._create, Answers.BODY, _CREATE),
            self._endpoints.reading(one, self._exists, _DESCRIBE, method="HEAD"),
            self._endpoints.reading(one, self._load, _DESCRIBE),
            self._endpoints.changing(one, self._drop, Answers.NOTHING, _DELETE, method="DELETE"),
            self._endpoints.changing(f"{one}/properties", self._change_properties, Answers.BODY, _ALTER),
        ]

    async def _list(self, request: Request) -> Response:
        rights = rights_of(request)
        found = [one for one in await self._store.namespaces(parent_of(request)) if await self._shows(rights, one)]
        page = page_of(request, found, [joined(namespace) for namespace in found])
        return JSONResponse({"namespaces": [list(one) for one in page.items], "next-page-token": page.next_token})

    async def _create(self, request: Request, once: Once | None) -> Response:
        body = await body_of(request)
        namespace = checked_namespace(body.get("namespace"))
        itself = (ResourceType.NAMESPACE, shown_namespace(namespace))
        rights_of(request).must(Operation.CREATE, itself, (ResourceType.CLUSTER, CLUSTER_NAME))
        properties = wanted_texts(body, "properties") if body.get("properties") is not None else {}
        answer = {"namespace": list(namespace), "properties": properties}
        await self._store.create_namespace(namespace, properties, receipt=receipt_of(once, {"body": answer}))
        return JSONResponse(answer)

    async def _exists(self, request: Request) -> Response:
        await self._described(request, namespace_of(request))
        return Response(status_code=NO_CONTENT)

    async def _load(self, request: Request) -> Response:
        namespace = namespace_of(request)
        properties = await self._described(request, namespace)
        return JSONResponse({"namespace": list(namespace), "properties": properties})

    async def _described(self, request: Request, namespace: Namespace) -> dict[str, str]:
        """The properties. Raises UnknownNamespace, Denied."""
        properties = await self._store.namespace_properties(namespace)
        rights = rights_of(request)
        if not await self._shows(rights, namespace):
            rights.must(Operation.DESCRIBE, (ResourceType.NAMESPACE, shown_namespace(namespace)))
        return properties

    async def _shows(self, rights: Rights, namespace: Namespace) -> bool:
        """Everybody may know that there is a namespace for topics, and whoever sees a table knows its namespace."""
        if rights.shows(Operation.DESCRIBE, (ResourceType.NAMESPACE, shown_namespace(namespace))):
            return True
        return namespace == STREAMS or any(
            rights.shows(Operation.DESCRIBE, listed_resource(namespace, table))
            for table in await self._store.tables(namespace)
        )

    async def _drop(self, request: Request, once: Once | None) -> Response:
        await self._store.drop_namespace(namespace_of(request), receipt=receipt_of(once, {}))
        return Response(status_code=NO_CONTENT)

    async def _change_properties(self, request: Request, once: Once | None) -> Response:
        namespace, body = namespace_of(request), await body_of(request)
        updates = wanted_texts(body, "updates") if body.get("updates") is not None else {}
        removals = wanted_strings(body, "removals") if body.get("removals") is not None else []
        if both := sorted(set(updates) & set(removals)):
            raise Unprocessable(f"'{both[0]}' is to be both set and removed: choose one")
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            before = await self._store.namespace_properties(namespace)
            answer = _change(before, updates, removals)
            kept = {name: value for name, value in before.items() if name not in removals} | updates
            receipt = receipt_of(once, {"body": answer})
            try:
                await self._store.replace_namespace_properties(
                    namespace, expected=before, properties=kept, receipt=receipt
                )
                break
            except CommitConflict:
                if attempt == _ATTEMPTS_MAX:
                    raise
        return JSONResponse(answer)


def _change(before: dict[str, str], updates: dict[str, str], removals: list[str]) -> Json:
    return {
        "updated": sorted(updates),
        "removed": sorted(name for name in removals if name in before),
        "missing": sorted(name for name in removals if name not in before),
    }
