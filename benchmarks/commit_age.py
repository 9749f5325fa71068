"""What a commit to a table takes when the table is young and when it is old. `python -m benchmarks commit_age`

    2,200 times: five small batches in the WAL -> a round of the pipeline -> five files, one commit

The clock starts when a round's files are written. The commit is done when the joint transaction has been answered; the
round, when old metadata files and snapshots have been cleared away. Commits 10-50 are the young table, the 200 after
2,000 the old one. This process writes the files itself, since Spark has no part in a commit.
"""

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa
import uvloop
from rich.console import Console

from benchmarks.order_records import NOW_MS
from benchmarks.quantiles import quantile
from benchmarks.report import Outcome, Section, Spread, number, today
from benchmarks.scratch import scratch_folder
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
from lakestream.table.spark.rewriter import rewrite_all
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.threads import ThreadPool

FILES = 5
BATCH_RECORDS = 20
YOUNG = slice(10, 50)
OLD_COMMITS = 200
FIGURES = {"commit": "commit_s", "CPU of a commit": "used_s", "with clearing away": "round_s"}
"""What is shown, by what a row is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    earlier_commits: int
    rounds: int


FULL = Plan(earlier_commits=2_000, rounds=5)
QUICK = Plan(earlier_commits=200, rounds=1)


class Taken(NamedTuple):
    """Seconds from the last file of a round."""

    commit_s: float
    used_s: float
    """Of the CPU, for the commit, by all threads of this process."""
    round_s: float


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


class Round(NamedTuple):
    young: Sequence[Taken]
    old: Sequence[Taken]


def column(taken: Sequence[Taken], figure: str) -> list[float]:
    return [getattr(each, figure) for each in taken]


def run(plan: Plan, console: Console) -> Outcome:
    rounds = []
    for turn in range(plan.rounds):
        rounds.append(_round(plan.earlier_commits))
        console.print(f"round {turn + 1} of {plan.rounds} done", highlight=False)
    return Outcome(sections=[_section(plan, rounds)], figures={"rounds": [_figures(each) for each in rounds]})


def _figures(done: Round) -> dict[str, dict[str, list[float]]]:
    """In columns, to the microsecond."""
    return {
        name: {figure: [round(each, 6) for each in column(taken, figure)] for figure in Taken._fields}
        for name, taken in done._asdict().items()
    }


def _round(earlier_commits: int) -> Round:
    os.sync()  # the round before has deleted thousands of files
    with scratch_folder() as folder:
        return uvloop.run(_commits(earlier_commits, folder))


async def _commits(earlier_commits: int, folder: Path) -> Round:
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
            )

        aging = await wal.create_topic("aging", FILES, value_format="raw")
        young = [await committed(aging) for _ in range(earlier_commits)][YOUNG]
        return Round(young, [await committed(aging) for _ in range(OLD_COMMITS)])
    finally:
        await store.close()
        await objects.close()
        await brokers_objects.close()
        disk.close()


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


def _section(plan: Plan, rounds: Sequence[Round]) -> Section:
    ages = {
        f"numbers {YOUNG.start}-{YOUNG.stop}": "young",
        f"{OLD_COMMITS} after {number(plan.earlier_commits)}": "old",
    }
    return Section(
        name="commit-age",
        title="Commits to a young and to an old table",
        note=(
            f"{FILES} files a commit, {number(FILES * plan.earlier_commits)} files before the old table's commits;"
            f" SQLite and files, everything fsynced; {plan.rounds} rounds, {today()}: median [range]."
        ),
        columns=["", "p50 ms", "of young p50", "p99 ms", "max ms"],
        rows=[
            _row(f"{name}, {age}", rounds, part, figure)
            for name, figure in FIGURES.items()
            for age, part in ages.items()
        ],
    )


def _row(name: str, rounds: Sequence[Round], part: str, figure: str) -> list[str]:
    taken = [column(getattr(each, part), figure) for each in rounds]
    young = [statistics.median(column(each.young, figure)) for each in rounds]
    p50, p99 = ([quantile(each, share) for each in taken] for share in (0.5, 0.99))
    return [name, _ms(p50), _times(p50, young), _ms(p99), _ms([max(each) for each in taken])]


def _ms(seconds: Sequence[float]) -> str:
    return str(Spread.of([each * 1e3 for each in seconds]))


def _times(seconds: Sequence[float], of: Sequence[float]) -> str:
    ratios = Spread.of([own / other for own, other in zip(seconds, of, strict=True)])
    return f"{ratios.median:.2f}x [{ratios.low:.2f}-{ratios.high:.2f}]"
