"""Health pages: what is ready, and what is missing where it is not."""

import asyncio
from collections.abc import Mapping

import httpx
from starlette.applications import Starlette

from lakestream.administration.administration import build_administration
from lakestream.app.broker_health import Health
from lakestream.broker.metrics import Metrics
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec
from lakestream.model.errors import StoreUnavailable
from lakestream.protocol.rest.admin import admin_routes
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.gateway_pages import GatewayPages
from lakestream.protocol.rest.health import READY, health_routes
from lakestream.protocol.rest.server import HttpServer
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.threads import InlineThreads


async def memory_store() -> MetadataStore:
    clock = SystemClock()
    return await open_store("sqlite:///:memory:", clock=clock, ids=Ids(clock, SystemChance()))


async def get(app: Starlette, path: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
        return await client.get(path)


def test_one_part_that_is_not_ready_makes_the_whole_not_ready() -> None:
    async def parts() -> Mapping[str, str]:
        return {"a": READY, "b": "still opening"}

    async def metrics() -> bytes:
        raise StoreUnavailable("the metadata store does not answer")

    async def body() -> None:
        app = Starlette(routes=health_routes(parts, metrics))
        ready = await get(app, "/readyz")
        assert (ready.status_code, ready.json()["parts"]["b"]) == (503, "still opening")
        assert (await get(app, "/healthz")).status_code == 200
        assert (await get(app, "/metrics")).status_code == 503

    asyncio.run(body())


def test_a_part_that_is_not_needed_is_listed_with_its_reason_and_the_whole_is_ready() -> None:
    async def parts() -> Mapping[str, str]:
        return {"a": READY, "b": "not here"}

    async def metrics() -> bytes:
        return b""

    async def body() -> None:
        ready = await get(Starlette(routes=health_routes(parts, metrics, dispensable=["b"])), "/readyz")
        assert ready.status_code == 200
        assert ready.json() == {"ready": True, "parts": {"a": READY, "b": "not here"}}

    asyncio.run(body())


def test_a_broker_without_a_lease_is_not_ready() -> None:
    async def body() -> None:
        store = await memory_store()
        answer = await get(Starlette(routes=Health(store=store, metrics=Metrics()).routes()), "/readyz")
        assert answer.status_code == 503
        assert answer.json()["parts"] == {"lease": "the lease is not held", "metadata": READY}
        await store.close()

    asyncio.run(body())


def test_the_gateway_tells_silent_brokers_from_ready_ones() -> None:
    async def ready() -> Mapping[str, str]:
        return {"lease": READY}

    async def page() -> bytes:
        return b"# TYPE x counter\nx_total 1.0\n"

    async def body() -> None:
        store = await memory_store()
        brokers = BrokerPages()
        clock = SystemClock()
        ids = Ids(clock, SystemChance())
        locations = TableObjects(MemoryObjects(clock))
        administration = build_administration(
            store=store,
            locations=locations,
            files=MetadataFiles(locations, ids=ids),
            answers=brokers,
            clock=clock,
            ids=ids,
            schema_threads=InlineThreads(),
            objects_url="memory://",
            grace_ms=0,
            no_pipeline="no pipeline is running: no Java was found",
        )
        pages = GatewayPages(administration, brokers)
        states = await pages.states()
        assert "no broker is alive" in states["broker"]
        assert states["pipeline"] == "no pipeline is running: no Java was found"
        http = HttpServer(Starlette(routes=health_routes(ready, page)), "127.0.0.1", 0)
        http.start()
        for number, address in ((0, f"127.0.0.1:{http.port}"), (1, "127.0.0.1:1")):
            spec = BrokerSpec(id=number, host="h", port=1, rack=None, http=address)
            await store.register_broker(spec, ttl_ms=60_000)
        states = await pages.states()
        assert (states["metadata"], states["broker-0"]) == (READY, READY)
        assert "does not answer at 127.0.0.1:1" in states["broker-1"]
        await store.jobs.claim_compaction("me", 60_000)
        assert (await pages.states())["pipeline"] == READY
        assert (await pages.metrics()).decode().count("x_total{") == 1
        status = (await get(Starlette(routes=admin_routes(administration.overview)), "/admin/status")).json()
        assert [broker["state"] == READY for broker in status["brokers"]] == [True, False]
        await http.stop()
        await brokers.close()
        await store.close()

    asyncio.run(body())
