"""/subjects: list, register, look up, read and delete versions."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.contract.registry.administration import SubjectAdministration
from lakestream.contract.registry.registry import Registry
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.rules.registry_rules import unknown_subject
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.registry import Shown, VersionKey
from lakestream.protocol.rest.access.rights import rights_of, subject_resource
from lakestream.protocol.rest.registry.answering import endpoint, text_answer, version_json
from lakestream.protocol.rest.registry.asking import (
    flag,
    is_lenient,
    prefix_of,
    shown_of,
    subject_of,
    submitted_of,
    text_of,
    version_of,
    window_of,
)
from lakestream.protocol.rest.routing import AccessRoute

_LIST = (Need(Operation.DESCRIBE, ResourceType.SUBJECT, scope="each that is listed"),)
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.SUBJECT),)
_READ = (Need(Operation.READ, ResourceType.SUBJECT),)
_REFERRED = Need(Operation.READ, ResourceType.SUBJECT, scope="each that the schema refers to")
_LOOK_UP = (*_READ, _REFERRED)
_REGISTER = (Need(Operation.ALTER, ResourceType.SUBJECT), _REFERRED)
_DELETE = (Need(Operation.DELETE, ResourceType.SUBJECT),)


class SubjectRoutes:
    def __init__(self, registry: Registry, administration: SubjectAdministration, store: RegistryStore) -> None:
        self._registry = registry
        self._administration = administration
        self._store = store

    def routes(self) -> list[AccessRoute]:
        one = "/subjects/{subject}"
        version = one + "/versions/{version}"
        return [
            endpoint("/subjects", self._list, _LIST),
            endpoint(one, self._lookup, _LOOK_UP, "POST"),
            endpoint(one, self._delete, _DELETE, "DELETE"),
            endpoint(one + "/versions", self._versions, _DESCRIBE),
            endpoint(one + "/versions", self._register, _REGISTER, "POST"),
            endpoint(version, self._version, _READ),
            endpoint(version, self._delete_version, _DELETE, "DELETE"),
            endpoint(version + "/schema", self._schema, _READ),
            endpoint(version + "/referencedby", self._referrers, _DESCRIBE),
        ]

    async def _list(self, request: Request) -> list[str]:
        rights, subjects = rights_of(request), await self._store.subjects(prefix_of(request), shown_of(request))
        shown = [one for one in subjects if rights.shows(Operation.DESCRIBE, subject_resource(one))]
        return shown[window_of(request)]

    async def _lookup(self, request: Request) -> dict[str, Any]:
        found = await self._registry.lookup(
            subject_of(request),
            await submitted_of(request),
            normalize=flag(request, "normalize"),
            deleted=flag(request, "deleted"),
        )
        return version_json(found, await self._registry.in_form(found.schema.body, text_of(request, "format")))

    async def _register(self, request: Request) -> dict[str, Any]:
        """Old clients accept the id and nothing else. No client gets the text back: it must not remember a schema in
        another form than it sent."""
        made = await self._registry.register(
            subject_of(request), await submitted_of(request), normalize=flag(request, "normalize")
        )
        more = {"version": made.version, "guid": made.schema.body.guid} if is_lenient(request) else {}
        return {"id": made.schema.id, **more}

    async def _delete(self, request: Request) -> list[int]:
        return await self._administration.delete_subject(subject_of(request), permanent=flag(request, "permanent"))

    async def _versions(self, request: Request) -> list[int]:
        subject, shown = subject_of(request), shown_of(request)
        view = await self._store.subject_view(subject)
        if not (view.live if shown is Shown.LIVE else view.versions):
            raise unknown_subject(subject)
        wanted = {Shown.LIVE: (False,), Shown.DELETED: (True,), Shown.ALL: (False, True)}[shown]
        return [entry.version for entry in view.versions if entry.deleted in wanted][window_of(request)]

    async def _version(self, request: Request) -> dict[str, Any]:
        found = await self._registry.version(subject_of(request), version_of(request), deleted=flag(request, "deleted"))
        return version_json(found, await self._registry.in_form(found.schema.body, text_of(request, "format")))

    async def _schema(self, request: Request) -> Response:
        found = await self._registry.version(subject_of(request), version_of(request), deleted=flag(request, "deleted"))
        return text_answer(await self._registry.in_form(found.schema.body, text_of(request, "format")))

    async def _delete_version(self, request: Request) -> int:
        return await self._administration.delete_version(
            subject_of(request), version_of(request), permanent=flag(request, "permanent")
        )

    async def _referrers(self, request: Request) -> list[int]:
        found = await self._registry.version(subject_of(request), version_of(request), deleted=True)
        return (await self._store.referrers(VersionKey(found.subject, found.version)))[window_of(request)]
