"""Rewriting the jobs of a round, all in one go: each under its topic's contract, and again where that knew too little.

    jobs -> contracts -> tasks -> results -> what they need: schemas, columns -> contracts that know -> tasks again

A contract is seldom short of anything: schemas change rarely. So every task writes its files at once, and only where
what it needs could be had is it run again. The first job of a topic is the exception: its first records are looked at
before, so that the bulk of them is not written twice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Protocol

from lakestream.catalog.locations import TableObjects
from lakestream.contract.values.topic_contract import Needs
from lakestream.model.errors import Unavailable
from lakestream.model.job import JobId
from lakestream.model.topic import TopicId
from lakestream.table.compaction.plan import TaskSpan
from lakestream.table.compaction.set_aside import SetAside
from lakestream.table.compaction.task import RewriteTask, TaskResult
from lakestream.table.contracts import HeldContract, TopicContracts

TURNS_MAX = 4
"""Undecided, its schemas, its columns: a topic's first job comes to three. Whatever is unknown then is set aside."""


class Rewriter(Protocol):
    async def rewrite(self, tasks: Sequence[RewriteTask]) -> list[TaskResult]:
        """Run the tasks, beside each other where that is possible. Raises RewriteFailed if none of them counts."""
        ...


class RewriteFailed(Unavailable):
    """The engine that runs the tasks did not finish them. Start it anew if this goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkersObjects:
    """How workers open the object store."""

    url: str
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What one job has to write anew: stretches of the log, or values that were set aside."""

    job: JobId
    topic: TopicId
    folder: str
    spans: tuple[tuple[TaskSpan, ...], ...] = ()
    """For each task."""
    set_aside: tuple[SetAside, ...] = ()
    """For each task."""


@dataclass(slots=True)
class RewrittenJob:
    work: Work
    contract: HeldContract
    by_number: dict[int, TaskResult] = field(default_factory=dict)
    turn: int = 0

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

    async def rewrite(self, works: Sequence[Work]) -> dict[JobId, RewrittenJob]:
        """Raises RewriteFailed."""
        all = {work.job: RewrittenJob(work, await self._contracts.of(work.topic)) for work in works}
        await self._learn([one for one in all.values() if one.contract.is_young and one.work.spans])
        ahead = list(all.values())
        for _ in range(TURNS_MAX):
            for result in await self._rewriter.rewrite([task for one in ahead for task in self._tasks(one)]):
                all[result.job].by_number[result.number] = result
            ahead = [one for one in ahead if await self._knows_more(one)]
            if not ahead:
                break
        return all

    async def _learn(self, young: Sequence[RewrittenJob]) -> None:
        """Look at the first records of topics that are new."""
        by_job = {one.work.job: one for one in young}
        for _ in range(TURNS_MAX):
            if not by_job:
                return
            found = await self._rewriter.rewrite([self._probe(one) for one in by_job.values()])
            needs = {result.job: result.needs for result in found if result.needs and not result.error}
            grown = {id: await self._contracts.grown(by_job[id].contract, needs[id]) for id in needs}
            by_job = {id: by_job[id] for id, contract in grown.items() if contract != by_job[id].contract}
            for id, one in by_job.items():
                one.contract = grown[id]
            by_job = {id: one for id, one in by_job.items() if one.contract.is_young}

    async def _knows_more(self, job: RewrittenJob) -> bool:
        """Whether what the job needs could be had, and changes its files: then its contract has it now."""
        needs = job.needs
        if not needs or any(result.error for result in job.by_number.values()):
            return False
        grown = await self._contracts.grown(job.contract, needs)
        written_as, job.contract = job.contract.contract.as_written, grown
        if grown.contract.as_written == written_as:
            return False  # values are just bytes, as which they were written, or nothing could be had
        job.turn += 1
        return True

    def _probe(self, job: RewrittenJob) -> RewriteTask:
        """The first span of the first task, read and not written."""
        first = self._tasks(job)[0]
        return replace(first, spans=first.spans[:1], is_probe=True)

    def _tasks(self, rewritten: RewrittenJob) -> list[RewriteTask]:
        work = rewritten.work
        parts = [*((spans, None) for spans in work.spans), *(((), set_aside) for set_aside in work.set_aside)]
        return [
            RewriteTask(
                job=work.job,
                number=number,
                objects_url=self._workers_objects.url,
                objects_options=self._workers_objects.options,
                folder=work.folder,
                folder_key=self._locations.key_of(work.folder),
                spans=spans,
                set_aside=set_aside,
                contract=rewritten.contract.contract,
                compression=rewritten.contract.compression,
                turn=rewritten.turn,
            )
            for number, (spans, set_aside) in enumerate(parts)
        ]
