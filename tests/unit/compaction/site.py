"""A small Lakestream for tests of compaction: real stores in memory, real segments, and workers in this process.

site.produce(partition, rows)      a segment with one batch
site.round()                       one round of the pipeline
site.read(partition)               what a consumer gets, from offset 0 on
site.table(topic)                  what SQL gets: rows of the files that a branch refers to
"""

import asyncio
import gzip
import io
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.broker.located import LocatedObjects
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.files.metadata_file import MetadataFiles
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.contract.registry.registry import Registry
from lakestream.contract.values.composing import RowComposer
from lakestream.contract.values.restoring import ContractRestorer
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.broker import BrokerLease, BrokerSpec
from lakestream.model.job import CompactionLease
from lakestream.model.place import FileSpan, PartitionView, inline_id
from lakestream.model.segment import SegmentBatch, SegmentCommit
from lakestream.model.table import TablePointer
from lakestream.model.topic import Topic, TopicSpec
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.reader.inline_reader import InlineReader
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.reader.segment_reader import SegmentReader
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.records.header import Codec, read_header
from lakestream.storage.tablefile.read.appended import AppendedFiles
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.reader import TableFileReader
from lakestream.storage.wal.segment import MAGIC, segment_key
from lakestream.table.building import build_pipeline
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.compaction.rewrite import rewrite_task
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.pipeline import Pipeline, Round
from lakestream.table.topic_tables import TopicTables
from lakestream.world.chance import SeededChance
from lakestream.world.ids import Ids, derived_uuid
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import Tasks
from lakestream.world.threads import InlineThreads
from tests.behaviour.metadata.stage import ShiftedClock

Row = dict[str, Any]
AT_ONCE = PlanLimits(freshness_ms=0)
TTL_MS = 60_000
DELETED = 2
"""The status of an entry whose file left with the manifest's snapshot."""
NOW_MS = 1_763_000_000_000


class Clock(ShiftedClock):
    """Nobody waits here."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(0)


class Passing(Clock):
    """Time passes when the test says so."""

    passed = 0.0

    def monotonic(self) -> float:
        return self.passed


class Counting:
    """Metrics that nobody reads."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


class InThisProcess:
    """The Rewriter that needs no Spark: the same code, one task after the other."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.tasks: list[RewriteTask] = []

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        self.tasks += [task for task in tasks if not task.is_probe]
        return [await rewrite_task(task, objects=self._objects, threads=InlineThreads()) for task in tasks]


class Site:
    def __init__(self, store: MetadataStore, clock: Clock, ids: Ids, objects: ObjectStore | None = None) -> None:
        """Without `objects` they are in memory."""
        self.store = store
        self.clock = clock
        self.ids = ids
        self.objects = objects or MemoryObjects(clock)
        self.rewriter = InThisProcess(self.objects)
        self.tasks = Tasks(on_failure=lambda name, error: None)
        self._broker: BrokerLease | None = None

    def pipeline(self, *, limits: PlanLimits = AT_ONCE, **parts: Any) -> Pipeline:
        given: dict[str, Any] = {
            "store": self.store,
            "objects": self.objects,
            "objects_options": {},
            "rewriter": self.rewriter,
            "limits": limits,
            "clock": self.clock,
            "ids": self.ids,
        }
        return build_pipeline(**(given | parts))

    async def lease(self, holder: str = "a") -> CompactionLease:
        lease = await self.store.jobs.claim_compaction(holder, TTL_MS)
        assert lease is not None
        return lease

    async def round(self, pipeline: Pipeline | None = None) -> Round:
        return await (pipeline or self.pipeline()).round(await self.lease())

    async def topic(self, name: str = "orders", partitions: int = 1, **config: str) -> Topic:
        """`config` with underscores for dots: lakestream_value_format='avro'."""
        configs = {key.replace("_", "."): value for key, value in config.items()}
        return await self.store.create_topic(
            TopicSpec(id=self.ids.topic_id(), name=name, partitions=partitions, config=configs)
        )

    @property
    def registry(self) -> Registry:
        return Registry(store=self.store.registry, threads=InlineThreads())

    async def produce(
        self,
        partition: int,
        rows: Sequence[Row],
        *,
        codec: Codec = Codec.NONE,
        append_ms: int = -1,
        damage: bool = False,
        inline: bool = False,
    ) -> str:
        """One segment with one batch; damaged, its records no longer fit their checksum; inline, it is no object."""
        data = bytearray(batch_of(rows, codec))
        if damage:
            data[-1] ^= 0xFF
        lease = await self.broker()
        segment = inline_id(self.ids.ulid()) if inline else self.ids.ulid()
        if not inline:
            await self.objects.put(segment_key(segment), [MAGIC, bytes(data)])
        latest = append_ms if append_ms >= 0 else max(row["timestamp"] for row in rows)
        batch = SegmentBatch(
            partition, 0 if inline else len(MAGIC), len(data), len(rows), latest, append_ms, -1, -1, -1
        )
        await self.store.commit_segment(
            SegmentCommit(
                segment=segment,
                broker_id=1,
                incarnation=lease.incarnation,
                bytes=0 if inline else len(data),
                batches=(batch,),
                inline=bytes(data) if inline else None,
            )
        )
        return segment

    async def broker(self) -> BrokerLease:
        if self._broker is None:
            spec = BrokerSpec(id=1, host="h", port=1, rack=None, http="h:1")
            self._broker = await self.store.register_broker(spec, 600_000_000)
        return self._broker

    async def view(self, partition: int, offset: int = 0) -> PartitionView:
        (view,) = await self.store.views([ViewAsk(partition, offset, 1_000)])
        assert view is not None
        return view

    async def places(self, partition: int) -> str:
        """'F' for each file span, 'w' for each span in the WAL."""
        spans = (await self.view(partition)).spans
        return "".join("F" if isinstance(span, FileSpan) else "w" for span in spans)

    def reader(self) -> LogReader:
        metrics: Any = Counting()
        files = TableFiles(
            LocatedObjects(self.objects),
            InlineThreads(),
            self.tasks,
            metrics,
            footer_bytes_max=1 << 20,
            restorer=ContractRestorer(),
        )
        return LogReader(
            SegmentReader(
                self.objects, InlineReader(self.store.inline, self.tasks), SegmentCache(0, metrics), self.tasks, metrics
            ),
            TableFileReader(
                files,
                AppendedFiles(
                    LocatedObjects(self.objects),
                    InlineThreads(),
                    self.tasks,
                    metrics,
                    RowComposer(),
                    cache_bytes_max=1 << 20,
                ),
                InlineThreads(),
                self.tasks,
                cache_bytes_max=1 << 20,
            ),
        )

    async def read(self, partition: int, *, bytes_max: int = 1 << 20) -> list[Row]:
        """Every record from log_start on, fetch after fetch."""
        reader, rows = self.reader(), list[Row]()
        view = await self.view(partition)
        offset = view.tail.log_start
        while offset < view.tail.next_offset:
            view = await self.view(partition, offset)
            run = await reader.read(view, offset, bytes_max, at_least_one=True)
            assert run.next_offset > offset
            rows += [row for row in decoded(b"".join(run.parts)) if row["offset"] >= offset]
            offset = run.next_offset
        return rows

    async def pointer(self, topic: Topic) -> TablePointer:
        """To its table, also when the topic is gone."""
        pointer = await self.store.tables.table_of_topic(topic.id)
        pointer = pointer or await self.store.tables.table_with_id(derived_uuid(topic.id.hex()))
        assert pointer is not None
        return pointer

    async def metadata(self, topic: Topic) -> dict[str, Any]:
        """The table's metadata, as any reader of the bucket finds it."""
        pointer = await self.pointer(topic)
        content = await self._object(pointer.metadata_location)
        found: dict[str, Any] = json.loads(gzip.decompress(content) if ".gz." in pointer.metadata_location else content)
        return found

    async def files(self, topic: Topic, branch: str = "main") -> list[str]:
        """Locations of the data files that the branch refers to."""
        metadata = await self.metadata(topic)
        head = metadata["refs"][branch]["snapshot-id"]
        (snapshot,) = [one for one in metadata["snapshots"] if one["snapshot-id"] == head]
        found = []
        for manifest in fastavro.reader(io.BytesIO(await self._object(snapshot["manifest-list"]))):
            entries = fastavro.reader(io.BytesIO(await self._object(manifest["manifest_path"])))  # type: ignore[index]
            found += _living(entries)
        return found

    async def referred(self, topic: Topic) -> set[str]:
        """Keys of everything that the table's metadata leads to, from the pointer on."""
        pointer = await self.pointer(topic)
        metadata = await self.metadata(topic)
        found = {pointer.metadata_location, *(entry["metadata-file"] for entry in metadata.get("metadata-log") or ())}
        for snapshot in metadata["snapshots"]:
            found |= {snapshot["manifest-list"], *await self._in_list(snapshot["manifest-list"])}
            if ledger := snapshot["summary"].get("lakestream.ledger"):
                found.add(ledger)
        return {TableObjects(self.objects).key_of(location) for location in found}

    async def _in_list(self, manifest_list: str) -> set[str]:
        found = set()
        for manifest in fastavro.reader(io.BytesIO(await self._object(manifest_list))):
            path = manifest["manifest_path"]  # type: ignore[index,call-overload]
            entries = fastavro.reader(io.BytesIO(await self._object(path)))
            found |= {path, *_living(entries)}
        return found

    async def _object(self, location: str) -> bytes:
        return bytes(await TableObjects(self.objects).read(location))

    async def stranger_changes_main(self, topic: Topic) -> None:
        """A commit to `main` alone, as any engine may make: from then on it is apart from `log`."""
        await TopicTables(self.store, self.commits()).make_missing()
        pointer = await self.pointer(topic)
        prepared = await self.commits().append(pointer, {"main": ()}, summary={})
        await self.store.tables.move_tables([prepared.move])

    def commits(self) -> TopicCommits:
        locations = TableObjects(self.objects)
        files = MetadataFiles(locations, ids=self.ids)
        return TopicCommits(objects=locations, files=files, clock=self.clock, ids=self.ids)

    async def table(self, topic: Topic, branch: str = "main") -> list[Row]:
        found: list[Row] = []
        for file in await self.files(topic, branch):
            found += pq.read_table(io.BytesIO(await self._object(file))).to_pylist()
        return sorted(found, key=lambda row: (row["__partition"], row["__offset"]))

    async def keys(self, prefix: str = "") -> set[str]:
        return {info.key async for info in self.objects.list(prefix)}


def _living(entries: Any) -> list[str]:
    return [entry["data_file"]["file_path"] for entry in entries if entry["status"] != DELETED]


def run(scenario: Callable[[Site], Coroutine[None, None, None]]) -> None:
    async def with_site() -> None:
        clock = Clock()
        ids = Ids(clock, SeededChance(7))
        store = await open_store("sqlite:///:memory:", clock=clock, ids=ids, one_thread=lambda name: InlineThreads())
        site = Site(store, clock, ids)
        try:
            await scenario(site)
        finally:
            await site.tasks.close()
            await store.close()

    asyncio.run(with_site())


def rows(count: int, *, base: int = 0, timestamp_ms: int = NOW_MS, value: bytes = b"v") -> list[Row]:
    """Records with everything a record can have, some of it absent."""
    return [
        {
            "offset": base + at,
            "timestamp": timestamp_ms + at,
            "key": None if at % 3 == 2 else b"key-%d" % at,
            "value": None if at % 5 == 4 else value + b"-%d" % (base + at),
            "headers": [{"key": "h", "value": b"x"}, {"key": "n", "value": None}] if at % 4 == 1 else [],
        }
        for at in range(count)
    ]


def batch_of(own: Sequence[Row], codec: Codec = Codec.NONE) -> bytes:
    """One batch, as a producer sends it: based at 0."""
    based = [{**row, "offset": at} for at, row in enumerate(own)]
    encoded = encode_batches(pa.RecordBatch.from_pylist(based, schema=SCHEMA), batch_bytes_max=1 << 30, codec=codec)
    (batch,) = encoded
    return bytes(batch)


def decoded(batches: bytes) -> list[Row]:
    """Batches with their true offsets; those that cannot be read come back as one row of their bytes."""
    found: list[Row] = []
    at = 0
    while at < len(batches):
        header = read_header(batches, at)
        batch = batches[at : at + header.total_bytes]
        try:
            found += decode_batches(batch, bytes_max=1 << 30, base_offsets=[header.base_offset]).to_pylist()
        except Exception:
            last = header.base_offset + header.last_offset_delta
            found.append({"offset": last, "batch": batch})
        at += header.total_bytes
    return found
