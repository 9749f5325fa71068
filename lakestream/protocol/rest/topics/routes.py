"""/admin/topics: find topics, look at one, create, alter and delete, with what will happen said before.

GET    /admin/topics?search=&page=          a page of topics
POST   /admin/topics                        {"name": "orders", "partitions": 3, "config": {}, "dry_run": true}
       with columns, as CREATE TABLE does   {"name": "orders", "columns": "id bigint, sku string", "key": "sku"}
       with the columns of a table          {"name": "orders", "like": "sales.orders"}
POST   /admin/adopt                         {"table": "sales.orders", "from": "now"}: see adoption.py
GET    /admin/topics/{name}                 one, with its configs and their meaning
PATCH  /admin/topics/{name}                 {"partitions": 6, "config": {"retention.ms": "1000", "x": null}, "dry_run"}
DELETE /admin/topics/{name}?dry_run=true
GET    /admin/topics/{name}/table-details   columns, snapshots, files of its table
GET    /admin/topics/{name}/records         see records.py
GET    /admin/topics/{name}/schemas         versions of its subjects in the registry
GET    /admin/topics/{name}/groups          groups that have offsets in it

Every change answers {"topic", "done", "consequences": [sentences]}; with dry_run it only says them.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lakestream.administration.desk import Desk
from lakestream.administration.groups import GroupRow
from lakestream.administration.topics.changes import TopicAlteration
from lakestream.administration.topics.pages import TopicLine
from lakestream.administration.topics.schemas import SubjectShown
from lakestream.administration.topics.with_columns import NewColumns
from lakestream.catalog.names.permits import TablePermit
from lakestream.model.access import Need, Operation, ResourceType
from lakestream.model.acl import CLUSTER_NAME
from lakestream.model.configs.topic_config import TOPIC_CONFIGS
from lakestream.model.errors import InvalidRequest
from lakestream.protocol.rest.access.rights import Rights, rights_of, subject_resource
from lakestream.protocol.rest.admin import topic_json
from lakestream.protocol.rest.answers import answered
from lakestream.protocol.rest.asked import asked_object, asked_page, asked_text, asked_texts, asked_whole_number
from lakestream.protocol.rest.catalog.permit import permit_of
from lakestream.protocol.rest.routing import AccessRoute
from lakestream.protocol.rest.topics.adoption import adoption_route
from lakestream.protocol.rest.topics.records import LOOK_AT_RECORDS, records_page

PATH = "/admin/topics"
FIND_TOPICS = (Need(Operation.DESCRIBE, ResourceType.TOPIC, scope="each that is listed"),)
LOOK_AT_TOPIC = (Need(Operation.DESCRIBE, ResourceType.TOPIC),)
LOOK_AT_TOPIC_WITH_CONFIGS = (*LOOK_AT_TOPIC, Need(Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC))
CREATE_TOPIC = (
    Need(Operation.CREATE, ResourceType.TOPIC, or_else=Need(Operation.CREATE, ResourceType.CLUSTER)),
    Need(Operation.READ, ResourceType.TABLE, scope="the one whose columns it takes"),
)
CREATE_TOPIC_LIKE_TABLE = (
    *CREATE_TOPIC,
    Need(Operation.READ, ResourceType.TABLE, scope="the one whose columns are copied, if any"),
)
ALTER_TOPIC = (
    Need(Operation.ALTER, ResourceType.TOPIC, scope="to add partitions"),
    Need(Operation.ALTER_CONFIGS, ResourceType.TOPIC, scope="to change configs"),
)
ASK_FOR_NEW_TOPIC = (
    Need(
        Operation.CREATE, ResourceType.TOPIC, or_else=Need(Operation.CREATE, ResourceType.CLUSTER), scope="to create it"
    ),
)
LOOK_AT_GROUPS_OF_TOPIC = (*LOOK_AT_TOPIC, Need(Operation.DESCRIBE, ResourceType.GROUP, scope="each that is listed"))
LOOK_AT_SCHEMAS = (
    *LOOK_AT_TOPIC,
    Need(Operation.READ, ResourceType.SUBJECT, scope="one that a config of the topic names"),
)
DELETE_TOPIC = (Need(Operation.DELETE, ResourceType.TOPIC),)


def topic_routes(desk: Desk) -> list[AccessRoute]:
    faces = _Faces(desk)
    one = PATH + "/{name}"
    return [
        AccessRoute(PATH, faces.find, needs=FIND_TOPICS),
        AccessRoute(PATH, faces.create, needs=CREATE_TOPIC_LIKE_TABLE, methods=["POST"]),
        adoption_route(desk.adoptions),
        AccessRoute(one, faces.look, needs=LOOK_AT_TOPIC_WITH_CONFIGS),
        AccessRoute(one, faces.alter, needs=ALTER_TOPIC, methods=["PATCH"]),
        AccessRoute(one, faces.delete, needs=DELETE_TOPIC, methods=["DELETE"]),
        AccessRoute(one + "/table-details", faces.table, needs=LOOK_AT_TOPIC),
        AccessRoute(one + "/schemas", faces.schemas, needs=LOOK_AT_SCHEMAS),
        AccessRoute(one + "/records", faces.records, needs=LOOK_AT_RECORDS),
        AccessRoute(one + "/groups", faces.groups, needs=LOOK_AT_GROUPS_OF_TOPIC),
    ]


def shown_topics(request: Request) -> Callable[[str], bool]:
    rights = rights_of(request)
    return lambda name: rights.shows(Operation.DESCRIBE, (ResourceType.TOPIC, name))


def must_create(rights: Rights, name: str) -> None:
    rights.must(Operation.CREATE, (ResourceType.TOPIC, name), (ResourceType.CLUSTER, CLUSTER_NAME))


def must_alter(rights: Rights, name: str, change: TopicAlteration) -> None:
    if change.partitions is not None or not change.config:
        rights.must(Operation.ALTER, (ResourceType.TOPIC, name))
    if change.config:
        rights.must(Operation.ALTER_CONFIGS, (ResourceType.TOPIC, name))


def readable_subjects(found: Sequence[SubjectShown], topic: str, rights: Rights) -> list[SubjectShown]:
    """The topic's own subjects, and others that its configs name if the caller may read those."""
    return [
        one
        for one in found
        if subject_resource(one.subject) == (ResourceType.TOPIC, topic)
        or rights.shows(Operation.READ, subject_resource(one.subject))
    ]


def shown_rows(rows: Sequence[GroupRow], rights: Rights) -> list[GroupRow]:
    return [row for row in rows if rights.shows(Operation.DESCRIBE, (ResourceType.GROUP, row.group))]


class _Faces:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def find(self, request: Request) -> Response:
        return await answered(self._found(request))

    async def look(self, request: Request) -> Response:
        return await answered(self._one(request.path_params["name"]))

    async def create(self, request: Request) -> Response:
        return await answered(self._created(await request.body(), rights_of(request), permit_of(request)))

    async def alter(self, request: Request) -> Response:
        return await answered(self._altered(request.path_params["name"], await request.body(), rights_of(request)))

    async def delete(self, request: Request) -> Response:
        dry_run = request.query_params.get("dry_run", "").lower() == "true"
        return await answered(self._deleted(request.path_params["name"], dry_run=dry_run))

    async def table(self, request: Request) -> Response:
        return await answered(self._table(request.path_params["name"]))

    async def records(self, request: Request) -> Response:
        return await answered(records_page(self._desk.records, request))

    async def schemas(self, request: Request) -> Response:
        return await answered(self._schemas(request.path_params["name"], rights_of(request)))

    async def groups(self, request: Request) -> Response:
        return await answered(self._groups(request.path_params["name"], rights_of(request)))

    async def _found(self, request: Request) -> dict[str, Any]:
        search, shows = request.query_params.get("search", ""), shown_topics(request)
        found = await self._desk.topics.find(search, asked_page(request), shows=shows)
        return {
            "topics": [_line_json(line) for line in found.lines],
            "page": found.page,
            "pages": found.pages,
            "found": found.found,
            "all": found.topics,
        }

    async def _one(self, name: str) -> dict[str, Any]:
        line = await self._desk.topics.one(name)
        config = line.status.topic.config
        return {
            **_line_json(line),
            "configs": [
                {
                    "name": definition.name,
                    "value": config.get(definition.name, definition.default),
                    "default": definition.default,
                    "set": definition.name in config,
                    "has_effect": definition.has_effect,
                    "meaning": definition.meaning,
                }
                for definition in TOPIC_CONFIGS.values()
            ],
        }

    async def _created(self, body: bytes, rights: Rights, permit: TablePermit) -> dict[str, Any]:
        known = {"name", "partitions", "config", "columns", "like", "key", "dry_run"}
        asked = asked_object(body, known, like='{"name": "orders"}')
        name, dry_run = asked_text(asked, "name"), asked.get("dry_run") is True
        if name is None:
            raise InvalidRequest("'name' is the topic's name")
        partitions = asked_whole_number(asked, "partitions")
        config = {key: value for key, value in asked_texts(asked, "config").items() if value is not None}
        columns, like, key = (asked_text(asked, one) for one in ("columns", "like", "key"))
        if columns is None and like is None:
            if key is not None:
                raise InvalidRequest("'key' names one of the topic's columns: name 'columns' as well, or 'like'")
            must_create(rights, name)
            said = await self._desk.changes.create(name, partitions=partitions, config=config, dry_run=dry_run)
        else:
            new = NewColumns(name=name, columns=columns, like=like, key=key, partitions=partitions, config=config)
            said = await self._desk.with_columns.create(new, dry_run=dry_run, permit=permit)
        return _done(name, dry_run, said)

    async def _altered(self, name: str, body: bytes, rights: Rights) -> dict[str, Any]:
        asked = asked_object(body, {"partitions", "config", "dry_run"}, like='{"config": {"retention.ms": "1000"}}')
        dry_run = asked.get("dry_run") is True
        change = TopicAlteration(
            partitions=asked_whole_number(asked, "partitions"), config=asked_texts(asked, "config")
        )
        must_alter(rights, name, change)
        return _done(name, dry_run, await self._desk.changes.alter(name, change, dry_run=dry_run))

    async def _deleted(self, name: str, *, dry_run: bool) -> dict[str, Any]:
        return _done(name, dry_run, await self._desk.changes.delete(name, dry_run=dry_run))

    async def _table(self, name: str) -> dict[str, Any]:
        found = await self._desk.tables.of(name)
        return {"table": None} if found is None else {"table": asdict(found)}

    async def _schemas(self, name: str, rights: Rights) -> dict[str, Any]:
        return {
            "subjects": [
                {
                    "of": one.of,
                    "subject": one.subject,
                    "compatibility": one.compatibility.value,
                    "versions": [
                        {
                            "version": each.version,
                            "id": each.schema_id,
                            "format": each.format.value,
                            "schema": each.text,
                        }
                        for each in one.versions
                    ],
                }
                for one in readable_subjects(await self._desk.schemas.of(name), name, rights)
            ]
        }

    async def _groups(self, name: str, rights: Rights) -> dict[str, Any]:
        return {"groups": [asdict(row) for row in shown_rows(await self._desk.groups.of_topic(name), rights)]}


def _line_json(line: TopicLine) -> dict[str, Any]:
    return {**topic_json(line.status), "records_per_second": line.records_per_second}


def _done(name: str, dry_run: bool, said: list[str]) -> dict[str, Any]:
    return {"topic": name, "done": not dry_run, "consequences": said}
