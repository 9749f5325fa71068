"""A gateway keeps one set of metadata files in memory: a file that one of its pages has read is read by no other."""

import asyncio

import httpx
from starlette.applications import Starlette

from lakestream.app.gateway import gateway_routes
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import STREAMS
from lakestream.model.topic import TopicSpec
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.table.topic_tables import TopicTables
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import Buffer
from lakestream.world.threads import InlineThreads

PAGES = (
    "/iceberg/v1/namespaces/streams/tables/orders",
    "/admin/status?check_files=true",
    "/admin/quarantine",
    "/admin/quarantine/orders",
)


class CountingReads(MemoryObjects):
    def __init__(self) -> None:
        super().__init__(SystemClock())
        self.metadata_files: list[str] = []

    async def get(self, key: str) -> Buffer:
        if key.endswith(".metadata.json"):
            self.metadata_files.append(key)
        return await super().get(key)


def test_the_pages_of_a_gateway_together_read_a_metadata_file_once() -> None:
    async def scenario() -> None:
        clock, objects = SystemClock(), CountingReads()
        ids = Ids(clock, SystemChance())
        store = await open_store("sqlite:///:memory:", clock=clock, ids=ids)
        await make_topic(store, objects, ids)
        brokers = BrokerPages()
        routes = gateway_routes(
            store=store,
            objects=objects,
            brokers=brokers,
            schema_threads=InlineThreads(),
            clock=clock,
            ids=ids,
            grace_ms=0,
        )
        app = httpx.ASGITransport(Starlette(routes=routes))
        async with httpx.AsyncClient(transport=app, base_url="http://gateway") as client:
            for page in PAGES:
                assert (await client.get(page)).status_code == httpx.codes.OK, page
        assert len(objects.metadata_files) == 1
        await brokers.close()
        await store.close()

    asyncio.run(scenario())


async def make_topic(store: MetadataStore, objects: MemoryObjects, ids: Ids) -> None:
    """As a pipeline does, with files of its own in memory."""
    locations = TableObjects(objects)
    commits = TopicCommits(objects=locations, files=MetadataFiles(locations, ids=ids), clock=SystemClock(), ids=ids)
    await store.tables.create_namespace(STREAMS, {})
    await store.create_topic(TopicSpec(id=b"o" * 16, name="orders", partitions=1))
    await TopicTables(store, commits).make_missing()
