"""Views over REST: list, create, load, replace, register, rename, drop."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lakestream.catalog.names.views import ViewCatalog
from lakestream.catalog.spec.requests import Once, checked_name
from lakestream.metadata.rules.missing import shown_namespace, shown_table, unknown_view
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.table import Namespace
from lakestream.protocol.rest.access.rights import Resource, rights_of
from lakestream.protocol.rest.catalog.asking import body_of, change_of, identifier, named, namespace_of, page_of
from lakestream.protocol.rest.catalog.endpoint import NO_CONTENT, Answers, Endpoints, loaded_response
from lakestream.protocol.rest.routing import AccessRoute

_IN_NAMESPACE = Need(Operation.CREATE, ResourceType.NAMESPACE, or_else=Need(Operation.CREATE, ResourceType.VIEW))
_LIST = (Need(Operation.DESCRIBE, ResourceType.VIEW, scope="each that is listed"),)
_CREATE = (_IN_NAMESPACE,)
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.VIEW),)
_READ = (Need(Operation.READ, ResourceType.VIEW),)
_ALTER = (Need(Operation.ALTER, ResourceType.VIEW),)
_DROP = (Need(Operation.DELETE, ResourceType.VIEW),)


class ViewRoutes:
    def __init__(self, views: ViewCatalog, endpoints: Endpoints) -> None:
        self._views = views
        self._endpoints = endpoints

    def routes(self) -> list[AccessRoute]:
        all, one = "/v1/namespaces/{namespace}/views", "/v1/namespaces/{namespace}/views/{view}"
        return [
            self._endpoints.reading(all, self._list, _LIST),
            self._endpoints.changing(all, self._create, Answers.METADATA, _CREATE),
            self._endpoints.reading(one, self._exists, _DESCRIBE, method="HEAD"),
            self._endpoints.reading(one, self._load, _READ),
            self._endpoints.changing(one, self._replace, Answers.METADATA, _ALTER),
            self._endpoints.changing(one, self._drop, Answers.NOTHING, _DROP, method="DELETE"),
            self._endpoints.changing(
                "/v1/namespaces/{namespace}/register-view", self._register, Answers.METADATA, _CREATE
            ),
            self._endpoints.changing("/v1/views/rename", self._rename, Answers.NOTHING, (*_ALTER, _IN_NAMESPACE)),
        ]

    async def _list(self, request: Request) -> Response:
        namespace = namespace_of(request)
        rights = rights_of(request)
        found = await self._views.names(namespace)
        names = [one for one in found if rights.shows(Operation.DESCRIBE, _view(namespace, one))]
        page = page_of(request, names, names)
        identifiers = [{"namespace": list(namespace), "name": name} for name in page.items]
        return JSONResponse({"identifiers": identifiers, "next-page-token": page.next_token})

    async def _create(self, request: Request, once: Once | None) -> Response:
        namespace, body = namespace_of(request), await body_of(request)
        _must_create(request, namespace, checked_name(body.get("name")))
        return loaded_response(await self._views.create(namespace, body, once=once))

    async def _exists(self, request: Request) -> Response:
        namespace, name = named(request, "view")
        if not await self._views.exists(namespace, name):
            raise unknown_view(namespace, name)
        return Response(status_code=NO_CONTENT)

    async def _load(self, request: Request) -> Response:
        return loaded_response(await self._views.load(*named(request, "view")))

    async def _replace(self, request: Request, once: Once | None) -> Response:
        namespace, name = named(request, "view")
        return loaded_response(await self._views.commit(change_of(await body_of(request), namespace, name), once=once))

    async def _drop(self, request: Request, once: Once | None) -> Response:
        await self._views.drop(*named(request, "view"), once=once)
        return Response(status_code=NO_CONTENT)

    async def _register(self, request: Request, once: Once | None) -> Response:
        namespace, body = namespace_of(request), await body_of(request)
        _must_create(request, namespace, checked_name(body.get("name")))
        return loaded_response(await self._views.register(namespace, body, once=once))

    async def _rename(self, request: Request, once: Once | None) -> Response:
        body = await body_of(request)
        source, target = identifier(body, "source"), identifier(body, "destination")
        rights_of(request).must(Operation.ALTER, _view(*source))
        _must_create(request, *target)
        await self._views.rename(source, target, once=once)
        return Response(status_code=NO_CONTENT)


def _view(namespace: Namespace, name: str) -> Resource:
    return ResourceType.VIEW, shown_table(namespace, name)


def _must_create(request: Request, namespace: Namespace, name: str) -> None:
    in_namespace = (ResourceType.NAMESPACE, shown_namespace(namespace))
    rights_of(request).must(Operation.CREATE, in_namespace, _view(namespace, name))
