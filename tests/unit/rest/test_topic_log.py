"""/admin/logs: where a topic's records lie, with the bytes that lie in no object, and with bounded answers."""

from typing import Any

import httpx
import pytest
from starlette.applications import Starlette

from lakestream.administration.topics import log as topic_log
from lakestream.administration.topics.log import TopicLogs
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.contract.topic.growing import GrowingContracts
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.model.place import Span, inline_id
from lakestream.model.segment import SegmentBatch, SegmentCommit
from lakestream.protocol.rest.topics.log import topic_log_routes
from lakestream.spark.gateway_logs import Extent, GatewayLogs
from lakestream.world.clock import SystemClock
from lakestream.world.threads import InlineThreads
from tests.unit.compaction.site import Site, batch_of, rows, run


class Gateway(GatewayLogs):
    """Asks routes in this process."""

    def __init__(self, app: Starlette) -> None:
        super().__init__("http://gateway", SystemClock())
        self._app = app

    async def _once(self, path: str, query: Any) -> Any:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(self._app), base_url="http://gateway") as client:
            answer = await client.get(path, params=dict(query) or None)
            answer.raise_for_status()
            return answer.json()


def gateway_of(site: Site) -> Gateway:
    files = MetadataFiles(TableObjects(site.objects), ids=site.ids)
    growing = GrowingContracts(RegisteredWriters(site.store.registry, InlineThreads()))
    logs = TopicLogs(site.store, files, growing, objects_url="memory://")
    return Gateway(Starlette(routes=topic_log_routes(logs)))


async def produce_inline(site: Site, partition: int, count: int) -> bytes:
    """The bytes of a batch that lie in the metadata store."""
    data = batch_of(rows(count))
    lease = site._broker
    assert lease is not None
    batch = SegmentBatch(partition, 0, len(data), count, 1, -1, -1, -1, -1)
    commit = SegmentCommit(
        segment=inline_id(site.ids.ulid()),
        broker_id=1,
        incarnation=lease.incarnation,
        bytes=0,
        batches=(batch,),
        inline=data,
    )
    await site.store.commit_segment(commit)
    return data


def test_spans_of_table_and_wal_come_in_bounded_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topic_log, "SPANS_MAX", 2)

    async def scenario(site: Site) -> None:
        topic = await site.topic(partitions=2)
        await site.produce(topic.partitions[0], rows(10))
        await site.round()
        for _ in range(4):
            await site.produce(topic.partitions[0], rows(5))
        gateway = gateway_of(site)
        log = await gateway.log("orders")
        assert (log.id, log.extents) == (topic.id.hex(), {0: Extent(0, 30), 1: Extent(0, 0)})
        view = await site.view(topic.partitions[0])
        assert (await gateway.spans("orders", 0, 0, 30)).spans == view.spans
        part = await gateway.spans("orders", 0, 12, 21)
        assert [(span.base_offset, span.last_offset) for span in part.spans] == [(10, 14), (15, 19), (20, 24)]

    run(scenario)


def test_bytes_that_lie_in_the_metadata_store_come_with_their_span() -> None:
    async def scenario(site: Site) -> None:
        topic = await site.topic()
        await site.produce(topic.partitions[0], rows(10))
        data = await produce_inline(site, topic.partitions[0], 3)
        found = await gateway_of(site).spans("orders", 0, 0, 13)
        first, second = found.spans
        assert isinstance(second, Span)
        assert found.inline == {second: data}
        assert (first.last_offset, second.last_offset) == (9, 12)

    run(scenario)


def test_what_does_not_exist_is_refused() -> None:
    async def scenario(site: Site) -> None:
        await site.topic()
        gateway = gateway_of(site)
        for path in ("/admin/logs/nosuch", "/admin/logs/orders/spans?partition=7&start=0&end=1"):
            with pytest.raises(httpx.HTTPStatusError, match="404"):
                await gateway._once(path, {})
        with pytest.raises(httpx.HTTPStatusError, match="400"):
            await gateway._once("/admin/logs/orders/spans?partition=0&start=-1&end=1", {})

    run(scenario)
