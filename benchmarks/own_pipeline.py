"""The real pipeline on a debt of the size that is wanted: what `lakestream pipeline` runs, without the waiting.

    owe(topic, orders, records)  WAL segments as a broker leaves them
    pay()                        rounds until nothing is owed -> wall and CPU seconds

Spark session, workers, Parquet, snapshots and the joint commit are the product's own, on files that are made durable.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks.order_records import BATCH_RECORDS, PARTITIONS, OrderRecords
from benchmarks.peers.server import cpu_s, process_cpu_s
from benchmarks.wal import LEASE_MS, Batch, Wal
from lakestream.contract.registry.registry import Registry
from lakestream.contract.registry.submitted import Submitted
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.job import CompactionLease
from lakestream.model.registry import SchemaFormat
from lakestream.model.topic import Topic
from lakestream.table.building import build_pipeline
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.lease import LeaseKeeper
from lakestream.table.merging.merging import MergeRound
from lakestream.table.pipeline import Pipeline, Round
from lakestream.table.spark.rewriter import SparkRewriter
from lakestream.table.spark.session import SparkLimits, open_session
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import InlineThreads, ThreadPool


class Cpu(NamedTuple):
    workers: float
    jvm: float
    """Spark's own process."""
    driver: float

    def __sub__(self, other: "Cpu") -> "Cpu":
        return Cpu(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


class Paid(NamedTuple):
    wall_s: float
    cpu: Cpu
    rounds: int


class OwnPipeline:
    def __init__(
        self,
        pipeline: Pipeline,
        lease: CompactionLease,
        store: MetadataStore,
        wal: Wal,
        jvm_pid: int,
        folder: Path,
    ) -> None:
        self._store = store
        self._wal = wal
        self._pipeline = pipeline
        self._lease = lease
        self._jvm_pid = jvm_pid
        self._folder = folder

    async def owe(self, topic_name: str, orders: OrderRecords, records: int, *, value_format: str) -> int:
        """A new topic with so many records in the WAL. Returns their bytes."""
        return await self.fill(await self.create(topic_name, value_format=value_format), orders, records)

    async def create(self, topic_name: str, *, value_format: str) -> Topic:
        return await self._wal.create_topic(topic_name, PARTITIONS, value_format=value_format)

    async def fill(self, topic: Topic, orders: OrderRecords, records: int) -> int:
        """So many records more in the WAL. Returns their bytes."""
        return await self._wal.fill(
            Batch(topic.partitions[number], data, BATCH_RECORDS) for number, data in orders.wal_batches(records)
        )

    async def pay(self) -> Paid:
        """Rounds until the log owes nothing."""
        before, started = self.cpu(), time.perf_counter()
        rounds = 0
        while not (await self.compact()).was_idle:
            rounds += 1
        return Paid(time.perf_counter() - started, self.cpu() - before, rounds)

    async def compact(self) -> Round:
        return await self._pipeline.round(self._lease)

    async def merge(self) -> MergeRound:
        return await self._pipeline.merge(self._lease)

    async def keep_up(self) -> None:
        """Upkeep and a sweep."""
        await self._pipeline.upkeep()
        await self._pipeline.sweep()

    async def files(self, topic: Topic) -> tuple[int, int]:
        """How many files the topic's log has, and their bytes."""
        sizes = [Path(urlsplit(use.file).path).stat().st_size for use in await self._store.jobs.file_uses(topic.id)]
        return len(sizes), sum(sizes)

    async def register(self, id: int, avro_schema: str) -> None:
        """The store's first schema, which gets this id."""
        registry = Registry(store=self._store.registry, threads=InlineThreads())
        version = await registry.register("orders", Submitted(format=SchemaFormat.AVRO, text=avro_schema))
        assert version.schema.id == id

    def table_files(self) -> list[Path]:
        return list((self._folder / "objects" / "tables").rglob("*.parquet"))

    def table_bytes(self) -> int:
        return sum(file.stat().st_size for file in self.table_files())

    def cpu(self) -> Cpu:
        jvm = process_cpu_s(self._jvm_pid)
        return Cpu(cpu_s(self._jvm_pid) - jvm, jvm, time.process_time())


@asynccontextmanager
async def own_pipeline(folder: Path) -> AsyncIterator[OwnPipeline]:
    """Its data lies under `folder`, which the caller removes."""
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    disk, waiting = ThreadPool(8, "objects"), ThreadPool(1, "spark")
    objects = await open_objects((folder / "objects").as_uri(), clock=clock, ids=ids, threads=disk)
    store = await open_store(f"sqlite://{folder}/metadata.db", clock=clock, ids=ids)
    session = await waiting.run(open_session, SparkLimits(master="local[*]", driver_memory="512m"))
    try:
        rewriter = SparkRewriter(session, waiting)
        pipeline = build_pipeline(
            store=store,
            objects=objects,
            objects_options={},
            rewriter=rewriter,
            limits=PlanLimits(freshness_ms=0),
            parallel=rewriter.parallel,
            clock=clock,
            ids=ids,
        )
        lease = await LeaseKeeper(store, holder="benchmark", clock=clock, ttl_ms=LEASE_MS).claim()
        gateway = session.sparkContext._gateway
        assert lease is not None and gateway is not None
        jvm_pid = gateway.proc.pid
        yield OwnPipeline(pipeline, lease, store, Wal(store, objects, ids), jvm_pid, folder)
    finally:
        await waiting.run(session.stop)
        await store.close()
        disk.close()
        waiting.close()
