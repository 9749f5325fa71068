"""Loading the table of a topic whose freshness is on-read: it has every record that was acknowledged before."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
from starlette.applications import Starlette

from lakestream.administration import fresh_reads
from lakestream.administration.fresh_reads import REQUEST_SECONDS, WAIT_SECONDS_MAX, FreshReads
from lakestream.app.gateway import gateway_routes
from lakestream.model.table import STREAMS
from lakestream.model.topic import Topic, TopicId
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.catalog.tables import LAG_CONFIG
from lakestream.table.compaction.plan import PlanLimits
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.site import Passing, Site, rows, run

PATIENT = PlanLimits(freshness_ms=3_600_000)
TABLE = "/iceberg/v1/namespaces/streams/tables/orders"


class Waiting(Passing):
    """Time passes only where somebody sleeps."""

    async def sleep(self, seconds: float) -> None:
        self.passed += seconds
        await asyncio.sleep(0)


class Served:
    """A gateway over the site, and a pipeline beside it that works off requests alone."""

    def __init__(self, site: Site, http: httpx.AsyncClient, clock: Waiting) -> None:
        self.site = site
        self.http = http
        self.clock = clock
        self.pipeline = site.pipeline(limits=PATIENT)

    async def load(self, path: str = TABLE, **headers: str) -> httpx.Response:
        return await self.http.get(path, headers=headers)

    async def rows_of(self, path: str = TABLE) -> int:
        """What the loaded table has, as an engine counts it."""
        answer = await self.load(path)
        assert answer.status_code == httpx.codes.OK, answer.text
        assert answer.json()["config"] == {}
        return _rows(answer.json())

    @asynccontextmanager
    async def working(self) -> Any:
        async def work() -> None:
            while True:
                if await self.pipeline.has_new_requests():
                    await self.site.round(self.pipeline)
                await asyncio.sleep(0)

        task = asyncio.get_running_loop().create_task(work())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def _rows(loaded: Any) -> int:
    metadata = loaded["metadata"]
    current = [one for one in metadata["snapshots"] if one["snapshot-id"] == metadata["current-snapshot-id"]]
    return int(current[0]["summary"]["total-records"]) if current else 0


def served(scenario: Callable[[Served, Topic], Awaitable[None]], freshness: str = "on-read") -> None:
    async def with_gateway(site: Site) -> None:
        await site.store.tables.create_namespace(STREAMS, {})
        topic = await site.topic("orders", partitions=2, lakestream_freshness=freshness)
        brokers, clock = BrokerPages(), Waiting()
        routes = gateway_routes(
            store=site.store,
            objects=site.objects,
            brokers=brokers,
            schema_threads=InlineThreads(),
            clock=clock,
            ids=site.ids,
            grace_ms=0,
        )
        transport = httpx.ASGITransport(Starlette(routes=routes))
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as http:
            found = Served(site, http, clock)
            await site.round(found.pipeline)  # makes the table
            await scenario(found, topic)
        await brokers.close()

    run(with_gateway)


def test_a_load_has_every_record_that_was_acknowledged_before_it_time_after_time() -> None:
    async def scenario(on: Served, topic: Topic) -> None:
        async with on.working():
            for turn in range(1, 4):
                for partition in topic.partitions:
                    await on.site.produce(partition, rows(10))
                assert await on.rows_of() == 20 * turn + turn - 1
                await on.site.produce(topic.partitions[0], rows(1))
                assert await on.rows_of(f"{TABLE}__log") == 21 * turn

    served(scenario)


def test_concurrent_loads_share_requests_and_each_has_what_was_there_when_it_came() -> None:
    async def scenario(on: Served, topic: Topic) -> None:
        await on.site.produce(topic.partitions[0], rows(10))
        async with on.working():
            assert await asyncio.gather(*(on.rows_of() for _ in range(20))) == [10] * 20
        jobs = [one for one in await on.site.keys("tables/") if one.endswith(".parquet")]
        assert len(jobs) == 1

    served(scenario)


def test_a_table_that_has_everything_is_loaded_without_a_request_and_without_waiting() -> None:
    async def scenario(on: Served, topic: Topic) -> None:
        await on.site.produce(topic.partitions[0], rows(10))
        async with on.working():
            await on.load()
        passed = on.clock.passed
        answer = await on.load()
        assert (_rows(answer.json()), on.clock.passed) == (10, passed)
        assert await on.site.store.jobs.asked_compactions() == frozenset()
        again = await on.load(**{"If-None-Match": answer.headers["ETag"]})
        assert again.status_code == httpx.codes.NOT_MODIFIED

    served(scenario)


def test_a_load_gives_up_after_its_time_and_tells_how_many_records_are_missing() -> None:
    async def scenario(on: Served, topic: Topic) -> None:
        tag = (await on.load()).headers["ETag"]
        await on.site.produce(topic.partitions[0], rows(10))
        before = on.clock.passed
        answer = await on.load(**{"If-None-Match": tag})
        assert WAIT_SECONDS_MAX <= on.clock.passed - before < WAIT_SECONDS_MAX + 1
        assert answer.status_code == httpx.codes.OK, "the client does not know that it lags"
        assert answer.json()["config"] == {LAG_CONFIG: "10"}
        assert answer.headers["ETag"] != tag

    served(scenario)


def test_without_a_pipeline_a_load_does_not_wait() -> None:
    async def scenario(on: Served, topic: Topic) -> None:
        await on.site.produce(topic.partitions[0], rows(10))
        await on.site.store.jobs.leave_compaction(await on.site.lease())
        before = on.clock.passed
        assert (await on.load()).json()["config"] == {LAG_CONFIG: "10"}
        assert on.clock.passed == before

    served(scenario)


def test_only_a_load_brings_records_in_and_only_where_the_topic_says_on_read() -> None:
    async def others(on: Served, topic: Topic) -> None:
        await on.site.produce(topic.partitions[0], rows(10))
        assert (await on.http.head(TABLE)).status_code == httpx.codes.NO_CONTENT
        assert (await on.http.get(TABLE.rpartition("/")[0])).status_code == httpx.codes.OK
        assert await on.site.store.jobs.asked_compactions() == frozenset()

    async def slow(on: Served, topic: Topic) -> None:
        await others(on, topic)
        assert (await on.load()).json()["config"] == {}
        assert await on.site.store.jobs.asked_compactions() == frozenset()

    served(others)
    served(slow, freshness="1h")


class CountedRequests:
    """A topic that never gets into its table."""

    def __init__(self, site: Site) -> None:
        self._jobs = site.store.jobs
        self.requests = 0

    async def ask_compaction(self, topics: list[TopicId]) -> None:
        self.requests += 1

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)


def test_a_topic_is_requested_once_a_second_and_only_so_many_loads_wait(monkeypatch: Any) -> None:
    monkeypatch.setattr(fresh_reads, "WAITS_MAX", 5)

    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.lease()
        await site.produce(topic.partitions[0], rows(10))
        jobs: Any = CountedRequests(site)
        reads = FreshReads(jobs, Waiting())
        found = await asyncio.gather(*(reads.bring_in(topic.id) for _ in range(8)))
        assert {each.lag_records for each in found} == {10}
        assert sum(each.waited for each in found) == 5
        assert jobs.requests == int(WAIT_SECONDS_MAX / REQUEST_SECONDS)
        assert (await reads.bring_in(topic.id)).waited, "those who are done leave their places to others"

    run(scenario)


def test_a_topic_that_is_deleted_keeps_nobody_waiting() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.lease()
        await site.produce(topic.partitions[0], rows(10))
        load = asyncio.ensure_future(FreshReads(site.store.jobs, site.clock).bring_in(topic.id))
        await asyncio.sleep(0)
        await site.store.delete_topic(topic.id)
        assert (await load).lag_records == 0

    run(scenario)
