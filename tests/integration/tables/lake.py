"""A whole Lakestream in this process, over a folder, in a thread of its own: a broker and the gateway on real sockets,
and compaction whenever the test asks for it. Its tasks run without Spark, by the code that Spark's workers run.

with running_lake(folder) as lake:
    lake.produce("orders", [b"a", b"b"])
    lake.compact()
    lake.command("sql", "SELECT count(*) FROM orders")
"""

import asyncio
import json
import sqlite3
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from starlette.applications import Starlette
from starlette.routing import Mount

from lakestream.administration.administration import build_administration
from lakestream.administration.fresh_reads import FreshReads
from lakestream.administration.sql_first.declared_columns import DeclaredColumns
from lakestream.administration.sql_first.inserted_rows import InsertedRows
from lakestream.administration.sql_first.sql_topics import SqlTopics
from lakestream.broker.broker import Broker, BrokerLimits
from lakestream.broker.located import LocatedObjects
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.names.tables import TableCatalog
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.contract.registry.registry import Registry
from lakestream.contract.topic.altering.contract import AlteringContracts
from lakestream.contract.topic.registered import RegisteredWriters
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.table import STREAMS
from lakestream.protocol.rest.admin import admin_routes
from lakestream.protocol.rest.brokers import BrokerPages
from lakestream.protocol.rest.catalog.branch_fields import branch_fields
from lakestream.protocol.rest.catalog.routes import catalog_routes
from lakestream.protocol.rest.compaction import maintenance_routes
from lakestream.protocol.rest.paths import CATALOG_PATH, REGISTRY_PATH
from lakestream.protocol.rest.quarantine import quarantine_routes
from lakestream.protocol.rest.registry.routes import registry_app
from lakestream.protocol.rest.server import HttpServer
from lakestream.protocol.rest.topic_table import topic_table_routes
from lakestream.protocol.rest.topics.log import topic_log_routes
from lakestream.table.building import build_pipeline
from lakestream.table.clustering.clustering import ClusterRound
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.compaction.rounds import Rewriter
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.merging.merging import MergeRound
from lakestream.table.pipeline import Pipeline, Round
from lakestream.table.spark.rewriter import rewrite_all
from lakestream.testing.local import LocalLakestream
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import ThreadPool
from tests.behaviour.metadata.stage import ShiftedClock
from tests.integration.tables.moments import AppAt, Moments, RewriterAt, StoreAt
from tests.integration.up_process import Done, command

T = TypeVar("T")

_SECONDS_MAX = 60
_HOST = "127.0.0.1"
_ROUNDS_MAX = 20


class InThisProcess:
    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        return await rewrite_all(tasks)


class RunningLake:
    def __init__(self, folder: Path, grace_ms: int, rewriter: Rewriter | None = None) -> None:
        self.folder = folder
        self._rewriter = rewriter or InThisProcess()
        self.kafka = ""
        self.http = ""
        self.grace_ms = grace_ms
        self.moments = Moments()
        self.pipelines_clock = ShiftedClock()
        self.broker: Broker
        self.store: MetadataStore
        self.object_store: ObjectStore
        self._loop: asyncio.AbstractEventLoop
        self._pipeline: Pipeline

    @property
    def uri(self) -> str:
        return f"http://{self.http}{CATALOG_PATH}"

    @property
    def registry(self) -> str:
        return f"http://{self.http}{REGISTRY_PATH}"

    @property
    def objects(self) -> Path:
        return self.folder / "objects"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=_SECONDS_MAX)

    def create(self, topic: str, partitions: int, config: dict[str, str] | None = None) -> None:
        admin = AdminClient({"bootstrap.servers": self.kafka})
        for made in admin.create_topics([NewTopic(topic, partitions, config=config or {})]).values():
            made.result(timeout=_SECONDS_MAX)

    def produce(
        self, topic: str, values: Sequence[bytes | None], *, timestamp_ms: int | None = None, **fields: Any
    ) -> None:
        """Every value is acknowledged when this returns. Keys and headers differ from record to record."""
        times = {} if timestamp_ms is None else {"timestamp": timestamp_ms}
        producer = Producer({"bootstrap.servers": self.kafka, "linger.ms": 5, **fields})
        for at, value in enumerate(values):
            key = None if at % 3 == 2 else b"key-%d" % at
            headers: list[Any] = [("h", b"x"), ("n", None)] if at % 4 == 1 else []
            producer.produce(topic, value=value, key=key, headers=headers, **times)
            producer.poll(0)
        assert producer.flush(_SECONDS_MAX) == 0

    def compact(self) -> None:
        """Until everything is in the tables."""
        self.run(self.compacted())

    async def compacted(self) -> None:
        for _ in range(_ROUNDS_MAX):
            if (await self._round()).was_idle:
                return
        raise AssertionError("compaction does not come to an end")

    def round(self) -> Round:
        """What there is now moves into the tables, while producers go on."""
        return self.run(self._round())

    async def _round(self) -> Round:
        lease = await self.store.jobs.claim_compaction("test", 60_000)
        assert lease is not None
        return await self._pipeline.round(lease)

    @contextmanager
    def rounds(self) -> Iterator[None]:
        """Round after round, as long as this goes on."""
        going = asyncio.run_coroutine_threadsafe(self._rounds(), self._loop)
        try:
            yield
        finally:
            going.cancel()

    async def _rounds(self) -> None:
        while True:
            await self._round()
            await asyncio.sleep(0.1)

    def merge(self) -> MergeRound:
        """Small files of the tables become larger ones."""
        return self.run(self._merge())

    async def _merge(self) -> MergeRound:
        lease = await self.store.jobs.claim_compaction("test", 60_000)
        assert lease is not None
        return await self._pipeline.merge(lease)

    def cluster(self) -> ClusterRound:
        """Rows of `main` that have waited for long enough are clustered."""
        return self.run(self._cluster())

    async def _cluster(self) -> ClusterRound:
        lease = await self.store.jobs.claim_compaction("test", 60_000)
        assert lease is not None
        return await self._pipeline.cluster(lease)

    def upkeep(self) -> None:
        """What the log has let go of leaves the tables."""
        self.run(self._pipeline.upkeep())

    def sweep(self) -> None:
        self.run(self._pipeline.sweep())

    def edit(self, statement: str) -> None:
        """Damage the metadata store by hand."""
        with closing(sqlite3.connect(self.folder / "metadata.db", timeout=_SECONDS_MAX)) as connection, connection:
            assert connection.execute(statement).rowcount > 0

    def command(self, *arguments: str) -> Done:
        where = ["--http", self.http]
        return command(*arguments, *where, *(["--kafka", self.kafka] if arguments[0] == "verify" else []))

    def json(self, *arguments: str) -> Any:
        done = self.command(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    async def serve(self, ready: threading.Event, stop: threading.Event, limits: BrokerLimits | None) -> None:
        self._loop = asyncio.get_running_loop()
        metadata, objects_url = f"sqlite://{self.folder}/metadata.db", self.objects.as_uri()
        async with AsyncExitStack() as stack:
            local = LocalLakestream(metadata=metadata, objects=objects_url, limits=limits)
            await stack.enter_async_context(local)
            self.kafka = local.bootstrap
            self.broker = local.brokers[0]
            clock = SystemClock()
            ids = Ids(clock, SystemChance())
            threads = ThreadPool(4, "objects")
            stack.callback(threads.close)
            objects = await open_objects(objects_url, clock=clock, ids=ids, threads=threads)
            stack.push_async_callback(objects.close)
            self.object_store = objects
            self.store = await open_store(metadata, clock=clock, ids=ids)
            stack.push_async_callback(self.store.close)
            await self.store.tables.create_namespace(STREAMS, {})
            self._pipeline = build_pipeline(
                store=cast(MetadataStore, StoreAt(self.store, self.moments)),
                objects=objects,
                objects_options={},
                rewriter=RewriterAt(self._rewriter, self.moments),
                limits=PlanLimits(freshness_ms=0),
                merge_limits=MergeLimits(files_min=4, time_share=1.0),
                grace_ms=self.grace_ms,
                clock=self.pipelines_clock,
                ids=ids,
            )
            locations = TableObjects(objects)
            files = MetadataFiles(locations, ids=ids)
            registry = Registry(store=self.store.registry, threads=threads)
            writers = RegisteredWriters(self.store.registry, threads)
            tables = TableCatalog(
                store=self.store.tables,
                objects=locations,
                files=files,
                clock=clock,
                ids=ids,
                delete_topic=self.store.delete_topic,
                branch_fields=branch_fields,
                topic_planner=SqlTopics(registry, writers),
                rows_as_records=InsertedRows(LocatedObjects(objects)),
                columns_of_records=DeclaredColumns(
                    store=self.store,
                    altering=AlteringContracts(
                        store=self.store.registry, registry=registry, writers=writers, threads=threads
                    ),
                ),
            )
            catalog = catalog_routes(
                store=self.store.tables,
                objects=locations,
                files=files,
                clock=clock,
                ids=ids,
                tables=tables,
                fresh_reads=FreshReads(self.store.jobs, clock),
            )
            brokers = BrokerPages()
            stack.push_async_callback(brokers.close)
            administration = build_administration(
                store=self.store,
                locations=locations,
                files=files,
                answers=brokers,
                clock=clock,
                ids=ids,
                schema_threads=threads,
                objects_url=objects.url,
                grace_ms=self.grace_ms,
            )
            routes = [
                *admin_routes(administration.overview),
                *topic_table_routes(administration.topic_tables, self.store.jobs),
                *topic_log_routes(administration.topic_logs),
                *quarantine_routes(administration.quarantine, administration.repairs),
                *maintenance_routes(administration.maintenance),
                Mount(CATALOG_PATH, routes=catalog),
                Mount(REGISTRY_PATH, app=registry_app(store=self.store.registry, threads=threads)),
            ]
            server = HttpServer(AppAt(Starlette(routes=routes), self.moments), _HOST, 0)
            server.start()
            stack.push_async_callback(server.stop)
            self.http = f"{_HOST}:{server.port}"
            ready.set()
            while not stop.is_set():
                await asyncio.sleep(0.05)


@contextmanager
def running_lake(
    folder: Path,
    *,
    limits: BrokerLimits | None = None,
    grace_ms: int = 3_600_000,
    rewriter: Rewriter | None = None,
) -> Iterator[RunningLake]:
    """Without a `rewriter` tasks run in this process."""
    lake = RunningLake(folder, grace_ms, rewriter)
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(lake.serve(ready, stop, limits)), daemon=True)
    thread.start()
    assert ready.wait(_SECONDS_MAX), "it did not start"
    try:
        yield lake
    finally:
        stop.set()
        thread.join(_SECONDS_MAX)
