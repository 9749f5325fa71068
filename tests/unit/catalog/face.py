"""The REST face over stores in memory, asked without a socket."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from lakestream.administration.fresh_reads import FreshReads
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.catalog.topic.topic_table import TopicTableSpec
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import STREAMS, TablePointer
from lakestream.model.topic import TopicSpec
from lakestream.protocol.rest.catalog.routes import catalog_routes
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.threads import InlineThreads
from tests.unit.catalog.samples import field, schema, seeded_ids

SYSTEM_FIELDS = (field(2_000_000_102, "__offset"), field(2_000_000_001, "__form", "int"))


@dataclass
class Face:
    http: httpx.AsyncClient
    store: MetadataStore
    objects: MemoryObjects
    commits: TopicCommits

    async def ask(self, method: str, path: str, body: Json | None = None, *, status: int = 200, **headers: str) -> Any:
        """The answer's JSON, or None where it has none. Asserts the status."""
        answer = await self.answer(method, path, body, **headers)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def answer(self, method: str, path: str, body: Json | None = None, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.request(method, f"/iceberg/v1/{path}", json=body, headers=named)

    async def refused(self, method: str, path: str, body: Json | None = None, *, status: int, **headers: str) -> Json:
        """The error of a refused request, which has the specification's form."""
        answer = await self.ask(method, path, body, status=status, **headers)
        assert set(answer) == {"error"} and set(answer["error"]) == {"message", "type", "code"}
        assert answer["error"]["code"] == status
        error: Json = answer["error"]
        return error

    async def make(self, name: str = "t", **more: Any) -> Json:
        """An ordinary table in `db`, which is made too."""
        await self.answer("POST", "namespaces", {"namespace": ["db"]})
        made: Json = await self.ask("POST", "namespaces/db/tables", create_request(name, **more))
        return made

    async def make_topic(self, name: str = "orders") -> TablePointer:
        topic = await self.store.create_topic(TopicSpec(id=name.encode().ljust(16), name=name, partitions=1))
        columns = [field(1, "id"), SYSTEM_FIELDS[0]]
        asked = TopicTableSpec(fields=columns, last_column_id=2_000_000_999, properties={})
        prepared = await self.commits.create(topic.id, STREAMS, name, asked)
        await self.store.tables.move_tables([prepared.move])
        return prepared.move.pointer


def create_request(name: str = "t", **more: Any) -> Json:
    return {"name": name, "schema": schema(field(1, "id"), field(2, "name", "string")), **more}


def with_face(scenario: Callable[[Face], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(_play(scenario))


async def _play(scenario: Callable[[Face], Coroutine[Any, Any, None]]) -> None:
    clock, ids = SystemClock(), seeded_ids()
    objects = MemoryObjects(clock)
    store = await open_store("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())
    await store.tables.create_namespace(STREAMS, {})
    table_objects = TableObjects(objects)
    files = MetadataFiles(table_objects, ids=ids)
    tables = TableCatalog(
        store=store.tables,
        objects=table_objects,
        files=files,
        clock=clock,
        ids=ids,
        delete_topic=store.delete_topic,
        branch_fields=lambda metadata: SYSTEM_FIELDS,
    )
    routes = catalog_routes(
        store=store.tables,
        objects=table_objects,
        files=files,
        clock=clock,
        ids=ids,
        tables=tables,
        fresh_reads=FreshReads(store.jobs, clock),
    )
    app = Starlette(routes=[Mount("/iceberg", routes=routes)])
    commits = TopicCommits(objects=table_objects, files=MetadataFiles(table_objects, ids=ids), clock=clock, ids=ids)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://lake") as http:
        await scenario(Face(http=http, store=store, objects=objects, commits=commits))
    await store.close()
