"""/admin/compact: wishes reach the store, and the answer says how far each topic is."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from lakestream.administration.compaction import CompactionRequests
from lakestream.administration.pipeline import Pipelines
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.topic import TopicSpec
from lakestream.protocol.rest.compaction import PATH, compaction_routes
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids

Scenario = Callable[[MetadataStore, httpx.AsyncClient], Coroutine[None, None, None]]
A, B = b"a" * 16, b"b" * 16


def run(scenario: Scenario) -> None:
    async def with_routes() -> None:
        clock = SystemClock()
        store = await open_store("sqlite:///:memory:", clock=clock, ids=Ids(clock, SystemChance()))
        for id, name in ((A, "a"), (B, "b")):
            await store.create_topic(TopicSpec(id=id, name=name, partitions=2))
        app = httpx.ASGITransport(Starlette(routes=compaction_routes(CompactionRequests(store, Pipelines(store)))))
        async with httpx.AsyncClient(transport=app, base_url="http://gateway") as client:
            await scenario(store, client)
        await store.close()

    asyncio.run(with_routes())


def test_topics_are_asked_for_by_name_or_all_at_once() -> None:
    async def scenario(store: MetadataStore, client: httpx.AsyncClient) -> None:
        answer = (await client.post(PATH, json={"topics": ["b"]})).json()
        assert [topic["name"] for topic in answer["topics"]] == ["b"]
        assert await store.jobs.asked_compactions() == {B}
        await client.post(PATH)
        assert await store.jobs.asked_compactions() == {A, B}

    run(scenario)


def test_looking_asks_for_nothing_and_tells_who_works() -> None:
    async def scenario(store: MetadataStore, client: httpx.AsyncClient) -> None:
        found = (await client.get(PATH)).json()
        assert found["pipeline"] is None
        assert found["topics"][0]["partitions"][1] == {
            "partition": 1,
            "log_start": 0,
            "next_offset": 0,
            "tabled_until": 0,
            "unstable_from": None,
        }
        assert await store.jobs.asked_compactions() == frozenset()
        await store.jobs.claim_compaction("me", 60_000)
        assert (await client.get(PATH)).json()["pipeline"] == "me"

    run(scenario)


@pytest.mark.parametrize(
    ("body", "status", "advice"),
    [
        ({"topics": ["gone"]}, 404, "lakestream topic list"),
        ({"topics": "a"}, 400, "list of names"),
        (["a"], 400, "JSON object"),
    ],
)
def test_what_makes_no_sense_is_refused_with_advice(body: Any, status: int, advice: str) -> None:
    async def scenario(store: MetadataStore, client: httpx.AsyncClient) -> None:
        answer = await client.post(PATH, json=body)
        assert answer.status_code == status
        assert advice in answer.json()["error"]
        assert await store.jobs.asked_compactions() == frozenset()

    run(scenario)
