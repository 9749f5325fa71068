"""/schemas: schemas by id and by guid, where they are registered, and the formats. /contexts: there is one."""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.contract.registry.names import subject_prefix
from lakestream.contract.registry.registry import Registry
from lakestream.metadata.registry_store import RegistryStore
from lakestream.model.access import ANYONE, Need, Operation, ResourceType
from lakestream.model.registry import SchemaFormat, Shown, StoredSchema, VersionKey
from lakestream.model.registry_errors import UnknownSchema
from lakestream.protocol.rest.access.rights import rights_of, subject_resource
from lakestream.protocol.rest.registry.answering import endpoint, schema_json, text_answer, version_json
from lakestream.protocol.rest.registry.asking import (
    flag,
    id_of,
    listed_window_of,
    prefix_of,
    shown_of,
    text_of,
    window_of,
)
from lakestream.protocol.rest.routing import AccessRoute

_GUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

NO_SUBJECT = "*"
"""In place of a subject's name, where no subject has the schema: a right on all subjects is needed."""
_LISTED = "each that is listed"
_DESCRIBE = (Need(Operation.DESCRIBE, ResourceType.SUBJECT, scope=_LISTED),)
_READ = (Need(Operation.READ, ResourceType.SUBJECT, scope="any one that has the schema"),)
_READ_EACH = (Need(Operation.READ, ResourceType.SUBJECT, scope=_LISTED),)


class SchemaRoutes:
    def __init__(self, registry: Registry, store: RegistryStore) -> None:
        self._registry = registry
        self._store = store

    def routes(self) -> list[AccessRoute]:
        return [
            endpoint("/schemas", self._list, _READ_EACH),
            endpoint("/schemas/types", self._types, ANYONE),
            endpoint("/schemas/ids/{id}", self._schema, _READ),
            endpoint("/schemas/ids/{id}/schema", self._text, _READ),
            endpoint("/schemas/ids/{id}/subjects", self._subjects, _DESCRIBE),
            endpoint("/schemas/ids/{id}/versions", self._versions, _DESCRIBE),
            endpoint("/schemas/guids/{guid}", self._by_guid, _READ),
            endpoint("/contexts", self._contexts, ANYONE),
            endpoint("/", self._root, ANYONE),
        ]

    async def _list(self, request: Request) -> list[dict[str, Any]]:
        offset, limit = listed_window_of(request)
        found = await self._store.subject_versions(
            prefix_of(request),
            shown_of(request),
            latest_only=flag(request, "latestOnly"),
            offset=offset,
            limit=limit,
        )
        rights = rights_of(request)
        return [version_json(one) for one in found if rights.shows(Operation.READ, subject_resource(one.subject))]

    async def _types(self, request: Request) -> list[str]:
        return sorted(format.value for format in SchemaFormat)

    async def _schema(self, request: Request) -> dict[str, Any]:
        found = await self._readable(request, await self._registry.schema(id_of(request)))
        body = await self._registry.in_form(found.body, text_of(request, "format"))
        greatest = {"maxId": await self._store.schema_id_max()} if flag(request, "fetchMaxId") else {}
        return {**schema_json(body), **greatest}

    async def _text(self, request: Request) -> Response:
        found = await self._readable(request, await self._registry.schema(id_of(request)))
        return text_answer(await self._registry.in_form(found.body, text_of(request, "format")))

    async def _by_guid(self, request: Request) -> dict[str, Any]:
        guid = request.path_params["guid"].lower()
        if not _GUID.fullmatch(guid):
            raise UnknownSchema(f"Schema {guid:.40} not found")
        found = await self._readable(request, await self._registry.schema_by_guid(guid))
        return schema_json(await self._registry.in_form(found.body, text_of(request, "format")))

    async def _readable(self, request: Request, schema: StoredSchema) -> StoredSchema:
        """Raises Denied unless the caller may read some subject that has the schema."""
        rights = rights_of(request)
        if rights.is_limited:
            keys = await self._store.versions_of_schema(schema.id, Shown.ALL)
            resources = [subject_resource(key.subject) for key in keys]
            rights.must(Operation.READ, *(resources or [(ResourceType.SUBJECT, NO_SUBJECT)]))
        return schema

    async def _subjects(self, request: Request) -> list[str]:
        keys = await self._used_by(request)
        return list(dict.fromkeys(key.subject for key in keys))[window_of(request)]

    async def _versions(self, request: Request) -> list[dict[str, Any]]:
        return [key._asdict() for key in await self._used_by(request)][window_of(request)]

    async def _used_by(self, request: Request) -> list[VersionKey]:
        id, subject = id_of(request), subject_prefix(text_of(request, "subject"))
        await self._registry.schema(id)
        keys = await self._store.versions_of_schema(id, Shown.ALL if flag(request, "deleted") else Shown.LIVE)
        rights = rights_of(request)
        shown = [key for key in keys if rights.shows(Operation.DESCRIBE, subject_resource(key.subject))]
        return [key for key in shown if subject in ("", key.subject)]

    async def _contexts(self, request: Request) -> list[str]:
        return ["."][window_of(request)]

    async def _root(self, request: Request) -> dict[str, Any]:
        return {}
