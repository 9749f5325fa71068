"""A whole registry in memory, asked as a client asks it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from lakestream.contract.topic.following import FollowingTables
from lakestream.metadata.open import one_thread, open_store
from lakestream.metadata.registry_store import RegistryStore
from lakestream.metadata.store import MetadataStore
from lakestream.protocol.rest.paths import REGISTRY_PATH
from lakestream.protocol.rest.registry.routes import registry_app
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.threads import ThreadPool

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"


class Answer(NamedTuple):
    status: int
    body: Any
    headers: httpx.Headers

    @property
    def error_code(self) -> int:
        assert self.status >= 400, self
        assert set(self.body) == {"error_code", "message"}, self
        return int(self.body["error_code"])


class Asking:
    def __init__(self, http: httpx.AsyncClient, store: RegistryStore, metadata: MetadataStore) -> None:
        self.http = http
        self.store = store
        self.metadata = metadata

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        content = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": CONTENT_TYPE, **{key.replace("_", "-"): value for key, value in headers.items()}}
        answer = await self.http.request(method, f"http://test{REGISTRY_PATH}{path}", content=content, headers=sent)
        try:
            return Answer(answer.status_code, answer.json(), answer.headers)
        except ValueError:
            return Answer(answer.status_code, answer.text, answer.headers)

    async def get(self, path: str, **headers: str) -> Answer:
        return await self.ask("GET", path, **headers)

    async def register(self, subject: str, schema: Any, *, query: str = "", **more: Any) -> Answer:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        path = f"/subjects/{subject}/versions{query}"
        return await self.ask("POST", path, {"schema": text, **more}, confluent_accept_unknown_properties="true")


def asked(scenario: Callable[[Asking], Awaitable[None]]) -> None:
    async def body() -> None:
        clock = SystemClock()
        store = await open_store(
            "sqlite:///:memory:", clock=clock, ids=Ids(clock, SystemChance()), one_thread=one_thread
        )
        threads = ThreadPool(2, "schemas")
        followers = FollowingTables(store=store, threads=threads)
        registry = registry_app(store=store.registry, threads=threads, followers=followers)
        app = Starlette(routes=[Mount(REGISTRY_PATH, app=registry)])
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
            await scenario(Asking(http, store.registry, store))
        threads.close()
        await store.close()

    asyncio.run(body())


def record(*fields: tuple[str, Any], name: str = "R") -> dict[str, Any]:
    """Fields with a third part have it as their default."""
    return {
        "type": "record",
        "name": name,
        "fields": [
            {"name": field[0], "type": field[1], **({"default": field[2]} if len(field) > 2 else {})}
            for field in fields
        ],
    }
