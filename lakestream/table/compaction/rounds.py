"""Rewrites the jobs of a round together: each under its topic's contract, and again if the contract lacked something.

    jobs -> contracts -> tasks -> results -> what they need: schemas, columns -> contracts that know -> tasks again

A contract seldom lacks anything, since schemas change rarely. So every task writes its files at once, and runs again
only if the contract could learn what the task needs. The first job of a topic is the exception: a probe reads its first
records beforehand, so that the bulk of them is not written twice.

A problem with one job is reported in its result and does not delay others. Examples are a contract that cannot be read
and tasks that kill their workers again and again. The engine then gives up on all tasks, and the jobs are halved until
the bad one is found.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.contract.topic.topic_contract import Needs
from lakestream.model.errors import Unavailable, what_went_wrong
from lakestream.model.job import JobId
from lakestream.model.topic import TopicId
from lakestream.table.arrangement.clustered_files import ClusterWork
from lakestream.table.compaction.merged_file import MergeWork
from lakestream.table.compaction.plan import AbortedRecords, TaskSpan
from lakestream.table.compaction.set_aside import SetAside
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.contracts import RAW_CONTRACT, HeldContract, TopicContracts

log = structlog.get_logger(__name__)

TURNS_MAX = 4
"""Undecided, its schemas, its columns: a topic's first job takes three turns. Later unknowns are set aside."""
FAILURES_MAX = 24
"""Failures of the engine in one call: enough to find one or two bad jobs among a thousand."""


class Rewriter(Protocol):
    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        """Run the tasks, in parallel if possible. Raises RewriteFailed if no result is usable."""
        ...


class RewriteFailed(Unavailable):
    """The engine that runs the tasks did not finish them. Restart it if this goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersObjects:
    """How workers open the object store."""

    url: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobWork:
    """The input of one job: stretches of the log, values that were set aside, or files to merge or to cluster."""

    job: JobId
    topic: TopicId
    folder: str
    spans: tuple[tuple[TaskSpan, ...], ...] = ()
    """For each task."""
    set_aside: tuple[SetAside, ...] = ()
    """For each task."""
    merges: tuple[MergeWork, ...] = ()
    """For each task."""
    clusters: tuple[ClusterWork, ...] = ()
    """For each task."""
    aborted: tuple[AbortedRecords, ...] = ()
    """Records that do not become rows, of all tasks."""


@dataclass(slots=True)
class RewrittenJob:
    work: JobWork
    contract: HeldContract
    by_number: dict[int, TaskResult] = field(default_factory=dict)
    turn: int = 0
    broken: str | None = None
    """The problem that makes the whole job fail."""

    @property
    def error(self) -> str | None:
        """The reason why the job's files may not be used."""
        return self.broken or next((result.error for result in self.results if result.error is not None), None)

    @property
    def results(self) -> list[TaskResult]:
        return [self.by_number[number] for number in sorted(self.by_number)]

    @property
    def has_more_files(self) -> bool:
        """Whether earlier runs of its tasks may have left files."""
        return self.turn > 0 or any(result.attempt for result in self.by_number.values())

    @property
    def needs(self) -> Needs:
        return reduce(Needs.joined, (result.needs for result in self.by_number.values()), Needs())


class Rewriting:
    def __init__(
        self, *, rewriter: Rewriter, contracts: TopicContracts, locations: TableObjects, workers_objects: WorkersObjects
    ) -> None:
        self._rewriter = rewriter
        self._contracts = contracts
        self._locations = locations
        self._workers_objects = workers_objects

    async def rewrite(self, works: Sequence[JobWork]) -> dict[JobId, RewrittenJob]:
        """Raises RewriteFailed, and Unavailable if not a single contract could be read."""
        all = await self._begun(works)
        await self._learn([one for one in all.values() if one.contract.is_young and one.work.spans])
        ahead = [one for one in all.values() if one.broken is None]
        for _ in range(TURNS_MAX):
            for result in await self._run(ahead, self._tasks):
                all[result.job].by_number[result.number] = result
            ahead = [one for one in ahead if await self._knows_more(one)]
            if not ahead:
                break
        return all

    async def _begun(self, works: Sequence[JobWork]) -> dict[JobId, RewrittenJob]:
        """Each job under its topic's contract. A contract that cannot be read breaks its own job. If none can be read,
        the store is unavailable."""
        begun = {}
        away: list[Unavailable] = []
        for work in works:
            try:
                begun[work.job] = RewrittenJob(work, await self._contracts.of(work.topic))
            except Exception as error:  # noqa: BLE001 - a damaged table, a contract that nobody can read
                away += [error] if isinstance(error, Unavailable) else []
                begun[work.job] = RewrittenJob(work, RAW_CONTRACT, broken=what_went_wrong(error))
        if away and len(away) == len(works):
            raise away[0]
        return begun

    async def _run(
        self, jobs: Sequence[RewrittenJob], tasks_of: Callable[[RewrittenJob], Sequence[RewriteTask]]
    ) -> list[TaskResult]:
        """Run all tasks of these jobs together. If the engine gives up, run them by halves to find the job that it
        cannot do, which is then broken. Raises RewriteFailed if the engine does not run at all."""
        together, results, failures = [list(jobs)] if jobs else [], list[TaskResult](), 0
        while together:
            some = together.pop(0)
            try:
                results += await self._rewriter.rewrite([task for one in some for task in tasks_of(one)])
                continue
            except RewriteFailed as failed:
                failures += 1
                if failures > FAILURES_MAX:
                    raise
                reason = str(failed)
            await self._rewriter.rewrite(())  # does the engine run without them?
            if len(some) == 1:
                some[0].broken = f"{reason.rstrip('.')}. Its tasks end their workers: look at their memory first"
                continue
            log.warning(
                "Spark gave up on the tasks of some topics; looking for the one", topics=len(some), error=reason
            )
            for one in some:
                one.turn += 1  # its files must not reuse existing names
            half = len(some) // 2
            together[:0] = [some[:half], some[half:]]
        return results

    async def _learn(self, young: Sequence[RewrittenJob]) -> None:
        """Probe the first records of new topics."""
        by_job = {one.work.job: one for one in young}
        for _ in range(TURNS_MAX):
            if not by_job:
                return
            found = await self._run(list(by_job.values()), lambda one: [self._probe(one)])
            needs = {result.job: result.needs for result in found if result.needs and not result.error}
            grown = {id: await self._grown(by_job[id], needs[id]) for id in needs}
            by_job = {id: by_job[id] for id, contract in grown.items() if contract != by_job[id].contract}
            for id, one in by_job.items():
                one.contract = grown[id]
            by_job = {id: one for id, one in by_job.items() if one.contract.is_young}

    async def _knows_more(self, job: RewrittenJob) -> bool:
        """Whether the job's needs could be met in a way that changes its files. Its contract includes them then."""
        needs = job.needs
        if not needs or job.error is not None:
            return False
        grown = await self._grown(job, needs)
        written_as, job.contract = job.contract.contract.as_written, grown
        if grown.contract.as_written == written_as:
            return False  # values stay bytes, as they were written, or nothing could be learned
        job.turn += 1
        return True

    async def _grown(self, job: RewrittenJob, needs: Needs) -> HeldContract:
        try:
            return await self._contracts.grown(job.contract, needs)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a schema that we cannot cope with is its topic's trouble
            job.broken = what_went_wrong(error)
            return job.contract

    def _probe(self, job: RewrittenJob) -> RewriteTask:
        """The first span of the first task, to read and not to write."""
        first = self._tasks(job)[0]
        return replace(first, spans=first.spans[:1], is_probe=True)

    def _tasks(self, rewritten: RewrittenJob) -> list[RewriteTask]:
        work = rewritten.work
        common = RewriteTask(
            job=work.job,
            number=0,
            objects_url=self._workers_objects.url,
            objects_options=self._workers_objects.options,
            folder=work.folder,
            folder_key=self._locations.key_of(work.folder),
            spans=(),
            aborted=work.aborted,
            contract=rewritten.contract.contract,
            compression=rewritten.contract.compression,
            turn=rewritten.turn,
        )
        parts = [
            *(replace(common, spans=spans) for spans in work.spans),
            *(replace(common, set_aside=set_aside) for set_aside in work.set_aside),
            *(replace(common, merge=merge) for merge in work.merges),
            *(replace(common, cluster=cluster) for cluster in work.clusters),
        ]
        return [replace(part, number=number) for number, part in enumerate(parts)]
