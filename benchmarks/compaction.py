"""How fast a debt is paid: `python -m benchmarks.compaction [RECORDS] [VALUE_BYTES]`.

Records are put into WAL segments as a broker does (8 MiB each, 8 partitions), then rounds of the real pipeline bring
them into the table: Spark session, workers, Parquet, snapshots, joint commit, on files that are made durable. The first
small round warms everything up and is not counted. CPU is that of the workers and of this process, from the system.
"""

import asyncio
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.values import json_values
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.broker import BrokerSpec
from lakestream.model.segment import SegmentBatch, SegmentCommit
from lakestream.model.topic import Topic, TopicSpec
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.storage.wal.segment import MAGIC, segment_key
from lakestream.table.building import build_pipeline
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.lease import LeaseKeeper
from lakestream.table.session import SparkLimits, open_session
from lakestream.table.spark_rewriter import SparkRewriter
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import ThreadPool

RECORDS, VALUE_BYTES = 2_000_000, 185
PARTITIONS = 8
SEGMENT_BYTES = 8 << 20
BATCH_RECORDS = 4_000
_TICKS = os.sysconf("SC_CLK_TCK")


async def main(records: int, value_bytes: int) -> None:
    folder = Path(tempfile.mkdtemp(prefix="lakestream-bench-"))
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    disk, waiting = ThreadPool(8, "objects"), ThreadPool(1, "spark")
    objects = await open_objects((folder / "objects").as_uri(), clock=clock, ids=ids, threads=disk)
    store = await open_store(f"sqlite://{folder}/metadata.db", clock=clock, ids=ids)
    session = await waiting.run(open_session, SparkLimits(master="local[*]", driver_memory="512m"))
    rewriter = SparkRewriter(session, waiting)
    pipeline = build_pipeline(
        store=store,
        objects=objects,
        objects_options={},
        rewriter=rewriter,
        limits=PlanLimits(freshness_ms=0, parallel=rewriter.parallel),
        clock=clock,
        ids=ids,
    )
    lease = LeaseKeeper(store, holder="benchmark", clock=clock, ttl_ms=600_000)
    held = await lease.claim()
    assert held is not None
    try:
        await fill(store, objects, ids, "warm", 400_000, value_bytes)
        await pipeline.round(held)
        warm = stored_bytes(folder)
        wal_bytes = await fill(store, objects, ids, "debt", records, value_bytes)
        cpu, started = cpu_seconds(), time.perf_counter()
        rounds = 0
        while not (await pipeline.round(held)).was_idle:
            rounds += 1
        wall, spent = time.perf_counter() - started, cpu_seconds() - cpu
        table = stored_bytes(folder) - warm
        print(f"{records} records of {value_bytes} B, {wal_bytes / 1e6:.0f} MB of WAL, {rounds} rounds")
        print(f"wall      {wall:6.2f} s   {wal_bytes / wall / 1e6:6.0f} MB/s   {records / wall / 1e3:6.0f} krec/s")
        print(f"CPU       {sum(spent):6.2f} s   {wal_bytes / sum(spent) / 1e6:6.0f} MB/s a core")
        print("  of it  " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in spent._asdict().items()))
        print(f"stored    {table / 1e6:6.1f} MB  {wal_bytes / table:.2f} times smaller")
    finally:
        await waiting.run(session.stop)
        await store.close()
        shutil.rmtree(folder)


def stored_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in (folder / "objects" / "tables").rglob("*.parquet"))


async def fill(store: MetadataStore, objects: ObjectStore, ids: Ids, name: str, records: int, value_bytes: int) -> int:
    """A topic with so many records in WAL segments. Returns their bytes."""
    topic = await store.create_topic(TopicSpec(id=ids.topic_id(), name=name, partitions=PARTITIONS))
    broker = await store.register_broker(BrokerSpec(id=1, host="h", port=1, rack=None, http="h:1"), 3_600_000)
    batch = one_batch(value_bytes)
    total = 0
    per_segment = max(1, SEGMENT_BYTES // len(batch))
    batches = -(-records // BATCH_RECORDS)
    for first in range(0, batches, per_segment):
        total += await put_segment(
            store, objects, topic, broker.incarnation, ids.ulid(), batch, first, min(per_segment, batches - first)
        )
    return total


async def put_segment(
    store: MetadataStore,
    objects: ObjectStore,
    topic: Topic,
    incarnation: int,
    segment: str,
    batch: bytes,
    first: int,
    count: int,
) -> int:
    partitions = sorted(topic.partitions[(first + at) % PARTITIONS] for at in range(count))
    await objects.put(segment_key(segment), [MAGIC, *([batch] * count)])
    placed = tuple(
        SegmentBatch(partition, len(MAGIC) + at * len(batch), len(batch), BATCH_RECORDS, 10**12, -1, -1, -1, -1)
        for at, partition in enumerate(partitions)
    )
    size = count * len(batch)
    await store.commit_segment(
        SegmentCommit(segment=segment, broker_id=1, incarnation=incarnation, bytes=size, batches=placed)
    )
    return size


def one_batch(value_bytes: int) -> bytes:
    rows = pa.record_batch(
        [
            pa.array(np.arange(BATCH_RECORDS)),
            pa.array(10**12 + np.arange(BATCH_RECORDS) // 10),
            pa.array([b"key-%06d" % (at * 7919 % 100_000) for at in range(BATCH_RECORDS)], pa.binary()),
            pa.array(json_values(BATCH_RECORDS, value_bytes), pa.binary()),
            pa.array([[]] * BATCH_RECORDS, SCHEMA.field("headers").type),
        ],
        schema=SCHEMA,
    )
    (batch,) = encode_batches(rows, batch_bytes_max=1 << 30)
    return bytes(batch)


class Cpu(NamedTuple):
    workers: float
    spark: float
    """Spark's own process: the JVM."""
    driver: float

    def __sub__(self, other: "Cpu") -> "Cpu":
        return Cpu(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


def cpu_seconds() -> Cpu:
    """Of this process, of the JVM that it has begun, and of the workers that the JVM has begun."""
    children: dict[int, list[tuple[int, str, float]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                name, _, rest = (entry / "stat").read_text().rpartition(")")
            except OSError:
                continue
            fields = rest.split()
            seconds = sum(map(int, fields[11:15])) / _TICKS
            children.setdefault(int(fields[1]), []).append((int(entry.name), name, seconds))
    workers = spark = 0.0
    waiting = [os.getpid()]
    while waiting:
        for child, name, seconds in children.get(waiting.pop(), []):
            workers, spark = (workers, spark + seconds) if "java" in name else (workers + seconds, spark)
            waiting.append(child)
    return Cpu(workers, spark, sum(os.times()[:2]))


if __name__ == "__main__":
    asked = [int(word) for word in sys.argv[1:]]
    asyncio.run(main(*(asked + [RECORDS, VALUE_BYTES][len(asked) :])))
