"""Does a commit to a table cost more when the table is old? `python -m benchmarks commit_age`

    2,200 times: five small batches in the WAL -> a round of the pipeline -> five files, one commit

What is timed begins when a round's files are written. The commit is done when the joint transaction has been answered:
manifests, manifest list and metadata are written by then, and everyone sees the rows. What follows is clearing away:
old metadata files at each commit, what the next commit will roll, and at every 25th the snapshots of long ago.
Both are shown. The files are written by the product's own code in this process, since Spark has no part in a commit.
The first 10 commits are left out; 10-50 are the young table, the last 200 the old one.

A commit waits for the disk twice: for the files that it writes at once, then for the metadata store's transaction. So
after every commit a small file is made durable in the same way, alone, and shown beside: a commit's tail cannot be
shorter than the disk's. Event loop and garbage collector are those of the pipeline's process.

All of it is done twice: on the disk, and on a file system in memory where there is one. What an old table's commits
cost more there is the code's doing; the rest of what they cost more on the disk is the disk's and its file system's.
"""

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import uvloop
from rich.console import Console

from benchmarks.order_records import NOW_MS
from benchmarks.report import ROOT, Outcome, Section, number, today
from benchmarks.values import json_values
from benchmarks.wal import LEASE_MS, Batch, Wal
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.job import JobCommit
from lakestream.process.life import Life
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import encode_batches
from lakestream.table.building import build_pipeline
from lakestream.table.compaction.plan import PlanLimits
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.lease import LeaseKeeper
from lakestream.table.spark_rewriter import rewrite_all
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.durable_file import create_durably
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import ThreadPool

FILES = 5
BATCH_RECORDS = 20
YOUNG = slice(10, 50)
OLD_COMMITS = 200
TARGET = 1.5
SMALL_FILE = bytes(4096)
MEMORY = Path("/dev/shm")
"""Where Linux has a file system in memory."""
ON_DISK = {"commit": "commit_s", "with clearing away": "round_s", "a durable file of 4 KB beside": "disk_s"}
IN_MEMORY = {"in memory: commit": "commit_s", "in memory: with clearing away": "round_s"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    earlier_commits: int


FULL = Plan(earlier_commits=2_000)
QUICK = Plan(earlier_commits=200)


class Taken(NamedTuple):
    """Seconds from the last file of a round."""

    commit_s: float
    round_s: float
    disk_s: float
    """What a small file took that was made durable right afterwards."""


class Written:
    """A rewriter that works in this process and remembers when it was done."""

    def __init__(self) -> None:
        self.at_s = 0.0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await rewrite_all(tasks)
        self.at_s = time.perf_counter()
        return results


class WatchedJobs:
    """A part of the store that remembers when it answered a job's commit; all else is as it was."""

    def __init__(self, jobs: JobStore) -> None:
        self.committed_at_s = 0.0
        self._jobs = jobs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    async def commit_job(self, commit: JobCommit) -> str:
        answer = await self._jobs.commit_job(commit)
        self.committed_at_s = time.perf_counter()
        return answer


class WatchedStore:
    def __init__(self, store: MetadataStore) -> None:
        self.jobs = WatchedJobs(store.jobs)
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def run(plan: Plan, console: Console) -> Outcome:
    count = plan.earlier_commits + OLD_COMMITS
    taken = _taken(count, ROOT / ".cache")
    in_memory = _taken(count, MEMORY) if os.access(MEMORY, os.W_OK) else []
    figures = {
        "taken_s": [each._asdict() for each in taken],
        "taken_in_memory_s": [each._asdict() for each in in_memory],
    }
    return Outcome(sections=[_section(plan, taken, in_memory)], figures=figures)


def _taken(count: int, below: Path) -> list[Taken]:
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=below))
    try:
        return uvloop.run(_commits(count, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _commits(count: int, folder: Path) -> list[Taken]:
    clock = SystemClock()
    ids = Ids(clock, SystemChance())
    disk = ThreadPool(8, "objects")
    objects, brokers_objects = [
        await open_objects((folder / "objects").as_uri(), clock=clock, ids=ids, threads=disk) for _ in range(2)
    ]
    store = await open_store(f"sqlite://{folder}/metadata.db", clock=clock, ids=ids)
    try:
        wal = Wal(store, brokers_objects, ids)
        watched, written = WatchedStore(store), Written()
        data = _batch()
        pipeline = build_pipeline(
            store=cast(MetadataStore, watched),
            objects=objects,
            objects_options={},
            rewriter=written,
            limits=PlanLimits(freshness_ms=0, task_bytes_max=len(data)),
            clock=clock,
            ids=ids,
        )
        lease = await LeaseKeeper(store, holder="benchmark", clock=clock, ttl_ms=LEASE_MS).claim()
        assert lease is not None
        topic = await wal.create_topic("aging", FILES, value_format="raw")
        Life(supervised=False).ready({})
        small = folder / "small"
        small.mkdir()
        taken = []
        for number in range(count):
            await wal.put([Batch(partition, data, BATCH_RECORDS) for partition in topic.partitions])
            done = await pipeline.round(lease)
            ended_s = time.perf_counter()
            assert done.committed == 1 and not done.failed, done
            disk_s = _disk_s(small / str(number))
            taken.append(Taken(watched.jobs.committed_at_s - written.at_s, ended_s - written.at_s, disk_s))
        return taken
    finally:
        await store.close()
        await objects.close()
        await brokers_objects.close()
        disk.close()


def _disk_s(path: Path) -> float:
    started_s = time.perf_counter()
    create_durably(path, [SMALL_FILE])
    return time.perf_counter() - started_s


def _batch() -> bytes:
    rows = pa.record_batch(
        [
            pa.array(range(BATCH_RECORDS), pa.int64()),
            pa.array([NOW_MS] * BATCH_RECORDS, pa.int64()),
            pa.array([None] * BATCH_RECORDS, pa.binary()),
            pa.array(json_values(BATCH_RECORDS, 185), pa.binary()),
            pa.array([[]] * BATCH_RECORDS, SCHEMA.field("headers").type),
        ],
        schema=SCHEMA,
    )
    (batch,) = encode_batches(rows, batch_bytes_max=1 << 20)
    return bytes(batch)


def _section(plan: Plan, taken: Sequence[Taken], in_memory: Sequence[Taken]) -> Section:
    rows = _rows(plan, taken, ON_DISK) + (_rows(plan, in_memory, IN_MEMORY) if in_memory else [])
    return Section(
        name="commit-age",
        title="Commits to a young and to an old table",
        note=(
            f"{FILES} files a commit, {number(FILES * plan.earlier_commits)} files before the old table's commits;"
            f" SQLite and files, everything fsynced, {today()}. The aim: p99 of the old table's commits at most"
            f" {TARGET}x of the young table's median."
        ),
        columns=["", "p50 ms", "of young p50", "p90 ms", "of young p50", "p99 ms", "of young p50", "max ms"],
        rows=rows,
    )


def _rows(plan: Plan, taken: Sequence[Taken], figures: Mapping[str, str]) -> list[list[str]]:
    rows = []
    for what, figure in figures.items():
        parts = (taken[YOUNG], taken[-OLD_COMMITS:])
        young, old = (sorted(getattr(each, figure) for each in part) for part in parts)
        base_s = statistics.median(young)
        rows += [
            _row(f"{what}, numbers 10-50", young, base_s),
            _row(f"{what}, {OLD_COMMITS} after {number(plan.earlier_commits)}", old, base_s),
        ]
    return rows


def _row(name: str, taken: Sequence[float], base_s: float) -> list[str]:
    cells = [name]
    for part in (0.5, 0.9, 0.99):
        at = taken[min(len(taken) - 1, int(len(taken) * part))]
        cells += [number(at * 1e3), f"{at / base_s:.2f}x"]
    return [*cells, number(taken[-1] * 1e3)]
