"""The pipeline: round after round, it moves due records from the WAL into the tables.

    held? -> tables for new topics -> debts -> due -> plan -> jobs begun -> rewritten (one Spark job) -> committed
                                                                         -> what failed is dropped, its files deleted

Each topic has its own job, so a problem with one topic does not delay another. Jobs that take parts of one transaction
are committed together; if one of them fails, its companions move without it from the next round on. Whenever a round
breaks off, the next one finds the remaining work in the store. The log keeps serving meanwhile.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import structlog

from lakestream.catalog.files.commit_names import LEDGER_NAME
from lakestream.catalog.files.locations import TableObjects
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Fenced, LakestreamError, Unavailable, what_went_wrong
from lakestream.model.job import CompactionLease, JobId, LeftJob, NewJob
from lakestream.model.table_errors import ContractMoved
from lakestream.model.topic import TopicId
from lakestream.storage.wal.mover import Mover
from lakestream.table.clustering.clustering import Clustering, ClusterRound
from lakestream.table.compaction.commit import BegunJob, Committer, RewrittenFiles
from lakestream.table.compaction.plan import PlanLimits, PlannedJob, due_debts
from lakestream.table.compaction.rounds import JobWork, Rewriting, RewrittenJob
from lakestream.table.compaction.task import TaskResult
from lakestream.table.contracts import evolution
from lakestream.table.merging.merging import MergeRound, Merging
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.rebuilding.rebuilding import Rebuilding
from lakestream.table.repairs import Repairs
from lakestream.table.resting import Resting
from lakestream.table.round_plan import RoundPlan
from lakestream.table.topic_tables import TopicTables
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from lakestream.table.upkeep.dropped_tables import DroppedTables
from lakestream.table.upkeep.orphan_data import OrphanData
from lakestream.table.upkeep.orphan_metadata import OrphanMetadata
from lakestream.table.upkeep.trimming import Trimming
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

log = structlog.get_logger(__name__)

COMMITS_AT_ONCE = 8


class Round(NamedTuple):
    """The result of one round."""

    committed: int
    failed: int
    bytes: int

    @property
    def was_idle(self) -> bool:
        return not self.committed and not self.failed


IDLE = Round(0, 0, 0)


class Pipeline:
    def __init__(
        self,
        *,
        store: MetadataStore,
        mover: Mover,
        locations: TableObjects,
        tables: TopicTables,
        rewriting: Rewriting,
        repairs: Repairs,
        committer: Committer,
        dropped_jobs: DroppedJobs,
        orphan_metadata: OrphanMetadata,
        orphan_data: OrphanData,
        trimming: Trimming,
        merging: Merging,
        clustering: Clustering,
        rebuilding: Rebuilding,
        dropped_tables: DroppedTables,
        metrics: PipelineMetrics,
        limits: PlanLimits,
        parallel: Callable[[], int] | None,
        clock: Clock,
        ids: Ids,
    ) -> None:
        """`parallel` tells how many tasks can run at once now; the workers of a cluster come and go. Without it the
        limits say so."""
        self._store = store
        self._round_plan = RoundPlan(store=store, mover=mover, limits=limits, parallel=parallel, clock=clock)
        self._locations = locations
        self._tables = tables
        self._rewriting = rewriting
        self._repairs = repairs
        self._committer = committer
        self._dropped_jobs = dropped_jobs
        self._orphan_metadata = orphan_metadata
        self._orphan_data = orphan_data
        self._trimming = trimming
        self._merging = merging
        self._clustering = clustering
        self._rebuilding = rebuilding
        self._dropped_tables = dropped_tables
        self._metrics = metrics
        self._limits = limits
        self._clock = clock
        self._ids = ids
        self._token: int | None = None
        self._known_requests: frozenset[TopicId] = frozenset()
        self._resting = Resting(clock)
        self._unfinished: dict[JobId, BegunJob] = {}
        """Jobs that were begun, and that are not known to be committed or dropped."""

    async def round(self, lease: CompactionLease) -> Round:
        """Run one round. Raises CompactionFenced when another pipeline has taken over, Unavailable when a store is
        away, and RewriteFailed. The next round, or the next holder of the lease, then drops the jobs that were begun.
        """
        try:
            return await self._round(lease)
        except LakestreamError:
            self._metrics.round_failed()
            raise

    async def _round(self, lease: CompactionLease) -> Round:
        began = self._clock.monotonic()
        await self._clear(lease)
        await self._tables.make_missing()
        await self._repairs.work_off(lease)
        now_ms = await self._store.now_ms()
        asked = await self._store.jobs.asked_compactions()
        self._known_requests = asked
        debts = await self._store.jobs.debts()
        in_debt = {debt.topic for debt in debts}
        await self._grant(asked - in_debt, asked_until_ms=now_ms)
        self._resting.keep(in_debt)
        self._metrics.topics_failing(len(self._resting))
        ready = [debt for debt in debts if not self._resting.rests(debt.topic, asked=debt.topic in asked)]
        due = due_debts(ready, asked, now_ms=now_ms, limits=self._limits)
        resting = in_debt - {debt.topic for debt in ready}
        planned = await self._round_plan.plan(due, debts, resting=resting)
        if not planned:
            return IDLE
        committed = await self._run(lease, planned, began)
        await self._grant(asked & {plan.topic for plan in committed if plan.reaches_end}, asked_until_ms=now_ms)
        return Round(len(committed), len(planned) - len(committed), sum(plan.bytes for plan in committed))

    async def has_new_requests(self) -> bool:
        """Returns whether somebody has requested a topic since the last round read or answered the requests."""
        return bool(await self._store.jobs.asked_compactions() - self._known_requests)

    async def merge(self, lease: CompactionLease) -> MergeRound:
        """Merge small files of tables, within their share of the time. Raises as `round` does."""
        return await self._merging.merge(lease)

    async def cluster(self, lease: CompactionLease) -> ClusterRound:
        """Cluster rows of `main`, within the same share of the time. Raises as `round` does."""
        return await self._clustering.cluster(lease)

    async def rebuild(self, lease: CompactionLease) -> bool:
        """One step of a rebuild that someone asked for; False if nobody did. Raises as `round` does."""
        return await self._rebuilding.step(lease)

    async def upkeep(self) -> None:
        """Trim the tables to what the log still has, and delete the tables of topics that took them along."""
        await self._trimming.trim()
        await self._dropped_tables.clear()

    async def sweep(self) -> None:
        """Check jobs once more that were dropped a while ago, and forget them. Clean up after commits that crashed."""
        await self._dropped_jobs.sweep()
        await self._orphan_metadata.sweep()
        await self._orphan_data.sweep()

    async def _clear(self, lease: CompactionLease) -> None:
        """Clean up once after earlier holders of the lease, and after our own last round if it broke off."""
        if lease.token != self._token:
            await self._dropped_jobs.take_over(lease.token)
            self._token = lease.token
        for job in list(self._unfinished.values()):
            await self._drop(job)

    async def _grant(self, topics: frozenset[TopicId], *, asked_until_ms: int) -> None:
        """Answer the waiting requests for topics whose records are all in the table. Others stay, and so do requests
        that came while the round ran: the round may lack their records."""
        if topics:
            await self._store.jobs.answer_compactions(sorted(topics), asked_until_ms)
            self._known_requests -= topics

    async def _run(self, lease: CompactionLease, planned: Sequence[PlannedJob], began: float) -> list[PlannedJob]:
        """Run the planned jobs, and return the committed ones. `began` is the time when planning began."""
        jobs = [self._job(lease, plan) for plan in planned]
        self._unfinished |= {job.id: job for job in jobs}
        await self._store.jobs.begin_jobs(lease.token, [NewJob(job.id, job.plan.table) for job in jobs])
        planned_at = self._clock.monotonic()
        rewritten = await self._rewriting.rewrite([_work(job) for job in jobs])
        rewritten_at = self._clock.monotonic()
        places = asyncio.Semaphore(COMMITS_AT_ONCE)
        groups = _committed_together(jobs)
        ended_groups = await asyncio.gather(
            *(self._end(group, rewritten, places) for group in groups), return_exceptions=True
        )
        jobs = [job for group in groups for job in group]
        ended = [done for group, done in zip(groups, ended_groups, strict=True) for _ in group]
        self._judge(jobs, ended)
        self._metrics.topics_failing(len(self._resting))
        self._metrics.round_done(
            plan_seconds=planned_at - began,
            rewrite_seconds=rewritten_at - planned_at,
            commit_seconds=self._clock.monotonic() - rewritten_at,
        )
        return [job.plan for job, done in zip(jobs, ended, strict=True) if done is True]

    def _job(self, lease: CompactionLease, plan: PlannedJob) -> BegunJob:
        id = self._ids.ulid()
        return BegunJob(id=id, token=lease.token, plan=plan, folder=self._locations.job_folder(plan.table, id))

    def _judge(self, jobs: Sequence[BegunJob], ended: Sequence[bool | BaseException]) -> None:
        """Raise errors that concern more than one job.

        If the store answered for other jobs, it is available, and a missing answer concerns one topic. The next round
        finds out what happened to that job."""
        unanswered = [(job, error) for job, error in zip(jobs, ended, strict=True) if isinstance(error, BaseException)]
        for _, error in unanswered:
            if not isinstance(error, Unavailable) or len(unanswered) == len(jobs):
                raise error
        for job, error in unanswered:
            if job.plan.together is not None:
                self._round_plan.part([job.plan.topic])
            self._note_failure(job, str(error))

    async def _end(
        self, jobs: Sequence[BegunJob], rewritten: Mapping[JobId, RewrittenJob], places: asyncio.Semaphore
    ) -> bool:
        """Commit the jobs together, or drop them all. Raises errors that concern more than these jobs."""
        async with places:
            errors = {job.id: error for job in jobs if (error := _error_of(job, rewritten[job.id])) is not None}
            if errors:
                await self._fail(jobs, errors)
                return False
            works = [
                RewrittenFiles(job, rewritten[job.id].results, evolution(rewritten[job.id].contract)) for job in jobs
            ]
            try:
                for job, results, _ in works:
                    if rewritten[job.id].has_more_files:
                        await self._clear_attempts(job, results)
                await self._committer.commit(works)
            except (Fenced, Unavailable):
                raise  # the next round, or the next holder of the lease, finds out what happened to the jobs
            except ContractMoved as moved:  # nothing is wrong with the topics: the next round begins anew
                for job in jobs:
                    log.info("a job is planned again", topic=job.plan.topic.hex(), job=job.id, reason=str(moved))
                    await self._drop(job)
                return False
            except Exception as refused:  # noqa: BLE001 - whatever is wrong with some jobs holds up no other
                await self._fail(jobs, dict.fromkeys((job.id for job in jobs), what_went_wrong(refused)))
                return False
            for job, results, _ in works:
                self._note_commit(job, results, watch=rewritten[job.id].has_more_files)
            return True

    def _note_commit(self, job: BegunJob, results: Sequence[TaskResult], *, watch: bool) -> None:
        del self._unfinished[job.id]
        self._resting.end(job.plan.topic)
        self._round_plan.committed(job.plan.topic)
        self._merging.got_files(job.plan.topic, len(results))
        if watch:
            self._dropped_jobs.watch(LeftJob(job.id, job.plan.table), _files_of(job, results))
        files = [file for result in results for file in result.files]
        set_aside = sum(file.record_count for result in results if (file := result.quarantine_file) is not None)
        self._metrics.job_committed(
            rows=sum(file.record_count for file in files) - set_aside,  # set-aside rows have a second copy
            quarantined_rows=set_aside,
            unread_keys=sum(result.unread_keys for result in results),
            wal_bytes=job.plan.bytes,
            written_bytes=sum(file.file_size_bytes for file in files),
        )

    async def _clear_attempts(self, job: BegunJob, results: Sequence[TaskResult]) -> None:
        """A task may have run more than once: delete the files of earlier runs before the commit."""
        counted = {self._locations.key_of(location) for location in _files_of(job, results)}
        await self._locations.delete_below(job.folder, but=counted)

    async def _fail(self, jobs: Sequence[BegunJob], errors: Mapping[JobId, str]) -> None:
        """Drop jobs that were to be committed together. The topics of those without an error try again at once."""
        if len(jobs) > 1:
            self._round_plan.part(job.plan.topic for job in jobs)
        for job in jobs:
            if job.id in errors:
                self._note_failure(job, errors[job.id])
            await self._drop(job)

    def _note_failure(self, job: BegunJob, error: str) -> None:
        self._metrics.job_dropped()
        log.error(
            "a topic could not be compacted",
            topic=job.plan.topic.hex(),
            job=job.id,
            error=error,
            pause_seconds=self._resting.begin(job.plan.topic),
        )

    async def _drop(self, job: BegunJob) -> None:
        await self._dropped_jobs.drop(LeftJob(job.id, job.plan.table))
        self._unfinished.pop(job.id, None)


def _work(job: BegunJob) -> JobWork:
    return JobWork(job=job.id, topic=job.plan.topic, folder=job.folder, spans=job.plan.tasks, aborted=job.plan.aborted)


def _committed_together(jobs: Sequence[BegunJob]) -> list[list[BegunJob]]:
    groups: dict[TopicId, list[BegunJob]] = {}
    for job in jobs:
        groups.setdefault(job.plan.together or job.plan.topic, []).append(job)
    return list(groups.values())


def _files_of(job: BegunJob, results: Sequence[TaskResult]) -> list[str]:
    """The locations of all files of a committed job."""
    return [f"{job.folder}/{LEDGER_NAME}", *(file.path for result in results for file in result.files)]


def _error_of(job: BegunJob, rewritten: RewrittenJob) -> str | None:
    numbers = [result.number for result in rewritten.results]
    if rewritten.error is None and numbers != list(range(len(job.plan.tasks))):
        return f"{len(job.plan.tasks)} tasks gave {len(numbers)} results"
    return rewritten.error
