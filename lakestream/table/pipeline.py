"""The pipeline: round after round, what lies in the WAL and is due moves into the tables.

    held? -> tables for new topics -> debts -> due -> plan -> jobs begun -> rewritten (one Spark job) -> committed, each
                                                                         -> what failed is dropped, its files deleted

One job for each topic, so that what is wrong with one topic holds up no other. Whatever ends a round, at whatever step,
the next one finds in the store what is still to be done; the log serves on in the meantime.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import structlog

from lakestream.catalog.locations import TableObjects
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Fenced, LakestreamError, Unavailable
from lakestream.model.job import CompactionLease, Debt, JobId, LeftJob, NewJob
from lakestream.model.topic import TopicId
from lakestream.table.compaction.commit import BegunJob, Committer
from lakestream.table.compaction.plan import PlanLimits, PlannedJob, due_debts, plan_jobs
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.left_behind import LeftBehind
from lakestream.table.topic_tables import TopicTables
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

log = structlog.get_logger(__name__)

COMMITS_AT_ONCE = 8
REST_SECONDS = 30.0
"""A topic whose job failed is left alone for so long, unless someone asks for it: others should not wait for it."""


class Rewriter(Protocol):
    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        """Run the tasks, beside each other where that is possible. Raises RewriteFailed if none of them counts."""
        ...


class RewriteFailed(Unavailable):
    """The engine that runs the tasks did not finish them. Start it anew if this goes on."""


class Round(NamedTuple):
    """What one round did."""

    committed: int
    failed: int
    bytes: int

    @property
    def was_idle(self) -> bool:
        return not self.committed and not self.failed


IDLE = Round(0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersObjects:
    """How workers open the object store."""

    url: str
    options: Mapping[str, str]


class Pipeline:
    def __init__(
        self,
        *,
        store: MetadataStore,
        locations: TableObjects,
        tables: TopicTables,
        rewriter: Rewriter,
        committer: Committer,
        left_behind: LeftBehind,
        workers_objects: WorkersObjects,
        limits: PlanLimits,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._store = store
        self._locations = locations
        self._tables = tables
        self._rewriter = rewriter
        self._committer = committer
        self._left_behind = left_behind
        self._workers_objects = workers_objects
        self._limits = limits
        self._clock = clock
        self._ids = ids
        self._token: int | None = None
        self._resting: dict[TopicId, float] = {}
        """Until when topics are left alone whose last job failed."""
        self._unfinished: dict[JobId, BegunJob] = {}
        """Jobs that were begun and of which we do not know that they were committed or dropped."""

    async def round(self, lease: CompactionLease) -> Round:
        """One. Raises CompactionFenced when another pipeline has taken over, Unavailable when a store is away, and
        RewriteFailed; the jobs it began are dropped then, by the next round or by the next holder of the lease."""
        await self._clear(lease)
        await self._tables.make_missing()
        asked = await self._store.jobs.asked_compactions()
        debts = await self._store.jobs.debts()
        await self._grant(asked - {debt.topic for debt in debts})
        now_ms = await self._store.now_ms()
        ready = [debt for debt in debts if debt.topic in asked or not self._rests(debt.topic)]
        planned = await self._plan(due_debts(ready, asked, now_ms=now_ms, limits=self._limits))
        if not planned:
            return IDLE
        committed = await self._run(lease, planned)
        await self._grant(asked & {plan.topic for plan in committed if plan.reaches_end})
        return Round(len(committed), len(planned) - len(committed), sum(plan.bytes for plan in committed))

    async def sweep(self) -> None:
        """Look once more at jobs that were dropped a while ago, and forget them."""
        await self._left_behind.sweep()

    async def _clear(self, lease: CompactionLease) -> None:
        """What earlier holders of the lease left behind, once; what our own last round did, if it broke off."""
        if lease.token != self._token:
            await self._left_behind.take_over(lease.token)
            self._token = lease.token
        for job in list(self._unfinished.values()):
            await self._drop(job)

    async def _plan(self, due: Sequence[Debt]) -> list[PlannedJob]:
        if not due:
            return []
        spans = await self._store.jobs.untabled_spans([debt.partition for debt in due], self._limits.spans_max)
        return plan_jobs(due, spans, self._limits)

    async def _grant(self, topics: frozenset[TopicId]) -> None:
        """Wishes are granted when everything that there was is in the table. Others stay."""
        if topics:
            await self._store.jobs.answer_compactions(sorted(topics))

    async def _run(self, lease: CompactionLease, planned: Sequence[PlannedJob]) -> list[PlannedJob]:
        """Those of the planned that were committed."""
        jobs = [self._job(lease, plan) for plan in planned]
        self._unfinished |= {job.id: job for job in jobs}
        await self._store.jobs.begin_jobs(lease.token, [NewJob(job.id, job.plan.table) for job in jobs])
        results: dict[JobId, list[TaskResult]] = {job.id: [] for job in jobs}
        for result in await self._rewriter.rewrite([task for job in jobs for task in self._tasks(job)]):
            results[result.job].append(result)
        places = asyncio.Semaphore(COMMITS_AT_ONCE)
        ended = await asyncio.gather(*(self._end(job, results[job.id], places) for job in jobs), return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException):
                raise error
        return [job.plan for job, done in zip(jobs, ended, strict=True) if done is True]

    def _job(self, lease: CompactionLease, plan: PlannedJob) -> BegunJob:
        id = self._ids.ulid()
        return BegunJob(id=id, token=lease.token, plan=plan, folder=self._left_behind.folder(plan.table, id))

    def _tasks(self, job: BegunJob) -> list[RewriteTask]:
        return [
            RewriteTask(
                job=job.id,
                number=number,
                objects_url=self._workers_objects.url,
                objects_options=self._workers_objects.options,
                folder=job.folder,
                folder_key=self._locations.key_of(job.folder),
                spans=spans,
            )
            for number, spans in enumerate(job.plan.tasks)
        ]

    async def _end(self, job: BegunJob, unsorted: Sequence[TaskResult], places: asyncio.Semaphore) -> bool:
        """Commit the job, or drop it. Raises what concerns more than this job."""
        results = sorted(unsorted, key=lambda result: result.number)
        async with places:
            if (error := _error_of(job, results)) is not None:
                await self._fail(job, error)
                return False
            try:
                await self._clear_attempts(job, results)
                await self._committer.commit(job, results)
            except (Fenced, Unavailable):
                raise  # what became of the job is found out by the next round, or by the next holder of the lease
            except LakestreamError as refused:
                await self._fail(job, str(refused))
                return False
            del self._unfinished[job.id]
            return True

    async def _clear_attempts(self, job: BegunJob, results: Sequence[TaskResult]) -> None:
        """Spark may have begun a task more than once: what the earlier attempts wrote goes before the commit."""
        if not any(result.attempt for result in results):
            return
        counted = {file.path for result in results for file in (result.file, result.log_file) if file is not None}
        await self._locations.delete_below(job.folder, but={self._locations.key_of(path) for path in counted})

    def _rests(self, topic: TopicId) -> bool:
        if self._clock.monotonic() < self._resting.get(topic, 0.0):
            return True
        self._resting.pop(topic, None)
        return False

    async def _fail(self, job: BegunJob, error: str) -> None:
        log.error("a topic could not be compacted", topic=job.plan.topic.hex(), job=job.id, error=error)
        self._resting[job.plan.topic] = self._clock.monotonic() + REST_SECONDS
        await self._drop(job)

    async def _drop(self, job: BegunJob) -> None:
        await self._left_behind.drop(LeftJob(job.id, job.plan.table))
        self._unfinished.pop(job.id, None)


def _error_of(job: BegunJob, results: Sequence[TaskResult]) -> str | None:
    error = next((result.error for result in results if result.error is not None), None)
    if error is None and [result.number for result in results] != list(range(len(job.plan.tasks))):
        return f"{len(job.plan.tasks)} tasks gave {len(results)} results"
    return error
