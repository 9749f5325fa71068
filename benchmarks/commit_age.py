"""Does a commit to a table cost more when the table is old? `python -m benchmarks commit_age`

    2,200 times: five small batches in the WAL -> a round of the pipeline -> five files, one commit

What is timed begins when a round's files are written. The commit is done when the joint transaction has been answered:
manifests, manifest list and metadata are written by then, and everyone sees the rows. What follows is clearing away:
old metadata files at each commit, what the next commit will roll, and at every 25th the snapshots of long ago.
Both are shown. The files are written by the product's own code in this process, since Spark has no part in a commit.
The first 10 commits are left out; 10-50 are the young table, the last 200 the old one.

A commit is some milliseconds of the CPU, and waits for the disk: for its files, then for the metadata store's
transaction. So after every commit a small file is made durable, and the CPU is given the same piece of work, each alone
and shown beside: a commit's tail cannot be shorter than theirs. And a machine that is shared may be a third slower a
minute later. So the old table's 200 commits are made in turns with commits to new tables in the same process, fifty to
each: whatever slows down the machine, the process or the file system slows down both, and what is left is the table's
age. Event loop and garbage collector are those of the pipeline's process.

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
from benchmarks.quantiles import quantile
from benchmarks.report import ROOT, Outcome, Section, number, today
from benchmarks.values import json_values
from benchmarks.wal import LEASE_MS, Batch, Wal
from lakestream.metadata.job_store import JobStore
from lakestream.metadata.open import open_store
from lakestream.metadata.store import MetadataStore
from lakestream.model.job import JobCommit
from lakestream.model.topic import Topic
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
CPU_STEPS = 20_000
"""A millisecond or so."""
MEMORY = Path("/dev/shm")
"""Where Linux has a file system in memory."""
ON_DISK = {
    "commit": "commit_s",
    "CPU of a commit": "used_s",
    "with clearing away": "round_s",
    "a durable file of 4 KB beside": "disk_s",
    "the same work for the CPU beside": "cpu_s",
}
IN_MEMORY = {
    "in memory: commit": "commit_s",
    "in memory: CPU of a commit": "used_s",
    "in memory: with clearing away": "round_s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    earlier_commits: int


FULL = Plan(earlier_commits=2_000)
QUICK = Plan(earlier_commits=200)


class Taken(NamedTuple):
    """Seconds from the last file of a round."""

    commit_s: float
    used_s: float
    """Of the CPU, for the commit, by all threads of this process."""
    round_s: float
    disk_s: float
    """What a small file took that was made durable right afterwards."""
    cpu_s: float
    """What a loop took that is always the same, after that."""


class Written:
    """A rewriter that works in this process and remembers when it was done."""

    def __init__(self) -> None:
        self.at_s = self.used_s = 0.0

    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        results = await rewrite_all(tasks)
        self.at_s, self.used_s = time.perf_counter(), time.process_time()
        return results


class WatchedJobs:
    """A part of the store that remembers when it answered a job's commit; all else is as it was."""

    def __init__(self, jobs: JobStore) -> None:
        self.committed_at_s = self.used_s = 0.0
        self._jobs = jobs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._jobs, name)

    async def commit_job(self, commit: JobCommit) -> str:
        answer = await self._jobs.commit_job(commit)
        self.committed_at_s, self.used_s = time.perf_counter(), time.process_time()
        return answer


class WatchedStore:
    def __init__(self, store: MetadataStore) -> None:
        self.jobs = WatchedJobs(store.jobs)
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


class Tables(NamedTuple):
    """The commits of each, in order."""

    aging: Sequence[Taken]
    new: Sequence[Taken]
    """Numbers 10-50 of new tables, made in turns with the last of the aging one."""


def run(plan: Plan, console: Console) -> Outcome:
    count = plan.earlier_commits + OLD_COMMITS
    on_disk = _taken(count, ROOT / ".cache")
    in_memory = _taken(count, MEMORY) if os.access(MEMORY, os.W_OK) else None
    figures = {"taken_s": _figures(on_disk), "taken_in_memory_s": _figures(in_memory) if in_memory else {}}
    return Outcome(sections=[_section(plan, on_disk, in_memory)], figures=figures)


def _figures(tables: Tables) -> dict[str, dict[str, list[float]]]:
    """In columns, to the microsecond."""
    return {
        name: {figure: [round(getattr(each, figure), 6) for each in taken] for figure in Taken._fields}
        for name, taken in tables._asdict().items()
    }


def _taken(count: int, below: Path) -> Tables:
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=below))
    try:
        return uvloop.run(_commits(count, folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _commits(count: int, folder: Path) -> Tables:
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
        life = Life(supervised=False)
        life.ready({})
        small = folder / "small"
        small.mkdir()

        async def committed(topic: Topic) -> Taken:
            await wal.put([Batch(partition, data, BATCH_RECORDS) for partition in topic.partitions])
            done = await pipeline.round(lease)
            life.tidy()
            ended_s = time.perf_counter()
            assert done.committed == 1 and not done.failed, done
            return Taken(
                commit_s=watched.jobs.committed_at_s - written.at_s,
                used_s=watched.jobs.used_s - written.used_s,
                round_s=ended_s - written.at_s,
                disk_s=_disk_s(small / ids.ulid()),
                cpu_s=_cpu_s(),
            )

        aging_topic = await wal.create_topic("aging", FILES, value_format="raw")
        aging = [await committed(aging_topic) for _ in range(count - OLD_COMMITS)]
        new: list[Taken] = []
        for table in range(OLD_COMMITS // YOUNG.stop):
            new_topic = await wal.create_topic(f"new-{table}", FILES, value_format="raw")
            in_turns = [(await committed(aging_topic), await committed(new_topic)) for _ in range(YOUNG.stop)]
            aging += [old for old, _ in in_turns]
            new += [young for _, young in in_turns][YOUNG]
        return Tables(aging, new)
    finally:
        await store.close()
        await objects.close()
        await brokers_objects.close()
        disk.close()


def _disk_s(path: Path) -> float:
    started_s = time.perf_counter()
    create_durably(path, [SMALL_FILE])
    return time.perf_counter() - started_s


def _cpu_s() -> float:
    started_s = time.perf_counter()
    total = 0
    for step in range(CPU_STEPS):
        total += step
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


def _section(plan: Plan, on_disk: Tables, in_memory: Tables | None) -> Section:
    rows = _rows(plan, on_disk, ON_DISK) + (_rows(plan, in_memory, IN_MEMORY) if in_memory else [])
    return Section(
        name="commit-age",
        title="Commits to a young and to an old table",
        note=(
            f"{FILES} files a commit, {number(FILES * plan.earlier_commits)} files before the old table's commits;"
            f" SQLite and files, everything fsynced, {today()}. The aim: p99 of the old table's commits at most"
            f" {TARGET}x of the young table's median; the last two columns are beside young tables of the same minute."
        ),
        columns=[
            "",
            *("p50 ms", "of young p50", "p90 ms", "of young p50", "p99 ms", "of young p50", "max ms"),
            *("p50 of new tables' p50", "p99 of new tables' p50"),
        ],
        rows=rows,
    )


def _rows(plan: Plan, tables: Tables, figures: Mapping[str, str]) -> list[list[str]]:
    parts = {
        f"numbers {YOUNG.start}-{YOUNG.stop}": tables.aging[YOUNG],
        f"{OLD_COMMITS} after {number(plan.earlier_commits)}": tables.aging[-OLD_COMMITS:],
        f"numbers {YOUNG.start}-{YOUNG.stop} of new tables, in turns with those": tables.new,
    }
    rows = []
    for what, figure in figures.items():
        young, old, new = ([getattr(each, figure) for each in part] for part in parts.values())
        bases_s = statistics.median(young), statistics.median(new)
        rows += [
            _row(f"{what}, {name}", seconds, *bases_s) for name, seconds in zip(parts, (young, old, new), strict=True)
        ]
    return rows


def _row(name: str, taken: Sequence[float], young_s: float, new_s: float) -> list[str]:
    at_s = [quantile(taken, share) for share in (0.5, 0.9, 0.99)]
    by_part = [cell for each in at_s for cell in (number(each * 1e3), f"{each / young_s:.2f}x")]
    return [name, *by_part, number(max(taken) * 1e3), f"{at_s[0] / new_s:.2f}x", f"{at_s[-1] / new_s:.2f}x"]
