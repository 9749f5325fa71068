"""Merges small files of topics' tables, within a share of the pipeline's time.

    topics with enough new files -> units -> groups -> jobs begun -> rewritten (one Spark job) -> committed, each
                                                                  -> what failed is dropped, its files deleted

The commit moves the table's pointer and re-points the spans in one transaction, as in compaction. The old files stay
readable until the snapshots that have them expire. Someone else may change the same files meanwhile: then the commit is
prepared again from a fresh read, and if the files are not as they were, the job is dropped.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import structlog

from lakestream.catalog.files.commit_names import LEDGER_NAME
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.merge_plan import (
    MergeLimits,
    Run,
    all_groups_of,
    groups_of,
    runs_of,
    shortest_retention,
    within,
)
from lakestream.catalog.topic.mergeable import MergedFiles
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.model.errors import Fenced, Unavailable, what_went_wrong
from lakestream.model.job import CompactionLease, JobCommit, JobId, LeftJob, NewFileSpan, NewJob, TabledSpan
from lakestream.model.table import TableId
from lakestream.model.topic import Topic, TopicId
from lakestream.table.budget import UpkeepBudget
from lakestream.table.compaction.commit import Committer, JobChange
from lakestream.table.compaction.ledger import data_file
from lakestream.table.compaction.merged_file import MergeSource, MergeWork
from lakestream.table.compaction.rounds import JobWork, Rewriting, RewrittenJob
from lakestream.table.compaction.task import TaskResult
from lakestream.table.merging.kinds import FileKinds
from lakestream.table.merging.ledger import merge_ledger
from lakestream.table.merging.requests import MergeRequests
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.resting import Resting
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

log = structlog.get_logger(__name__)

TOPICS_AT_ONCE = 20
"""Topics examined in one go. The others have their turn next time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeJob:
    id: JobId
    token: int
    topic: TopicId
    table: TableId
    folder: str
    groups: tuple[Run, ...]
    """Each becomes one file, and perhaps a second one that only `log` refers to."""
    spans: tuple[tuple[TabledSpan, ...], ...]
    """The spans in the files of each group, by partition and offset."""

    @property
    def replaced(self) -> frozenset[str]:
        return frozenset(path for group in self.groups for unit in group for path in unit.paths)

    @property
    def bytes(self) -> int:
        return sum(unit.bytes for group in self.groups for unit in group)


class MergeRound(NamedTuple):
    """The result of one go."""

    jobs: int
    files: int
    """Files that were merged into fewer."""
    bytes: int


NOTHING = MergeRound(0, 0, 0)


class Merging:
    def __init__(
        self,
        *,
        store: MetadataStore,
        locations: TableObjects,
        commits: TopicCommits,
        kinds: FileKinds,
        rewriting: Rewriting,
        committer: Committer,
        dropped_jobs: DroppedJobs,
        metrics: PipelineMetrics,
        limits: MergeLimits,
        budget: UpkeepBudget,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._kinds = kinds
        self._rewriting = rewriting
        self._committer = committer
        self._dropped_jobs = dropped_jobs
        self._metrics = metrics
        self._limits = limits
        self._clock = clock
        self._ids = ids
        self._resting = Resting(clock)
        self._new_files: dict[TopicId, int] = {}
        """Files that each topic got since it was examined. A topic that is not here was never examined."""
        self._budget = budget
        self._requests = MergeRequests(store)
        self._unfinished: dict[JobId, LeftJob] = {}
        """Jobs that were begun, and that are not known to be committed or dropped."""

    def got_files(self, topic: TopicId, count: int) -> None:
        """Compaction has added files to the topic's table."""
        if topic in self._new_files:
            self._new_files[topic] += count

    async def merge(self, lease: CompactionLease) -> MergeRound:
        """Merge what is worth it, if there is time. Raises Fenced, Unavailable and RewriteFailed; what was begun is
        dropped next time."""
        for job in list(self._unfinished.values()):
            await self._dropped_jobs.drop(job)
            del self._unfinished[job.id]
        began = self._clock.monotonic()
        asked = await self._requests.read()
        if not asked and not self._budget.is_free:
            return NOTHING
        try:
            return await self._merge(lease, asked)
        finally:
            took = self._clock.monotonic() - began
            self._budget.spent(took)
            self._metrics.merging_took(took)

    async def _merge(self, lease: CompactionLease, asked: AbstractSet[TopicId]) -> MergeRound:
        topics = (await self._store.topics()).topics
        self._new_files = {one.id: self._new_files[one.id] for one in topics if one.id in self._new_files}
        self._resting.keep({one.id for one in topics})
        jobs = await self._plan(lease, topics, asked)
        await self._requests.answer({job.topic for job in jobs})
        if not jobs:
            return NOTHING
        self._unfinished |= {job.id: LeftJob(job.id, job.table) for job in jobs}
        await self._store.jobs.begin_jobs(lease.token, [NewJob(job.id, job.table) for job in jobs])
        rewritten = await self._rewriting.rewrite([self._work(job) for job in jobs])
        done = [job for job in jobs if await self._end(job, rewritten[job.id])]
        return MergeRound(len(done), sum(len(job.replaced) for job in done), sum(job.bytes for job in done))

    # --- planning --------------------------------------------------------------------------------

    async def _plan(
        self, lease: CompactionLease, topics: Sequence[Topic], asked: AbstractSet[TopicId]
    ) -> list[MergeJob]:
        """Of topics that someone has asked for, all is merged that can be; of others, if there is time, what is worth
        it."""
        is_fast = any(typed_topic_config(topic.config).freshness.is_fast for topic in topics)
        left = self._limits.short_round_bytes_max if is_fast and not asked else self._limits.round_bytes_max
        in_time = self._budget.is_free
        due = [topic for topic in topics if topic.id in asked or (in_time and self._is_due(topic))]
        due.sort(key=lambda topic: topic.id not in asked)
        jobs: list[MergeJob] = []
        for topic in due[:TOPICS_AT_ONCE]:
            self._new_files[topic.id] = 0
            try:
                job = await self._planned(lease, topic, left, all_groups_of if topic.id in asked else groups_of)
            except (Fenced, Unavailable):
                raise
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one table holds up no other
                self._failed(topic.id, what_went_wrong(error))
                continue
            if job is not None:
                jobs.append(job)
                left -= job.bytes
                self._new_files[topic.id] = self._limits.files_min  # there may be more
        return jobs

    def _is_due(self, topic: Topic) -> bool:
        is_new = self._new_files.get(topic.id, self._limits.files_min) >= self._limits.files_min
        return is_new and not self._resting.rests(topic.id, asked=False)

    async def _planned(
        self, lease: CompactionLease, topic: Topic, bytes_max: int, groups_in: Callable[..., list[Run]]
    ) -> MergeJob | None:
        # The table first, the index afterwards: a file that leaves in between is in neither.
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            return None
        found = await self._commits.mergeable(pointer)
        if found.has_lineage or found.is_rebuilt:
            return None
        uses = await self._store.jobs.file_uses(topic.id)
        retention = shortest_retention(typed_topic_config(topic.config))
        runs = runs_of(uses, found.log, folder=self._locations.log_folder(pointer.id))
        worthwhile = within((group for run in runs for group in groups_in(run, self._limits, retention)), bytes_max)
        groups = [part for group in worthwhile for part in await self._kinds.fitting(group)]
        spans = [await self._store.jobs.spans_in_files(topic.id, _paths(group)) for group in groups]
        whole = [(group, own) for group, own in zip(groups, spans, strict=True) if _is_whole(own, _paths(group))]
        if not whole:
            return None
        id = self._ids.ulid()
        return MergeJob(
            id=id,
            token=lease.token,
            topic=topic.id,
            table=pointer.id,
            folder=self._locations.job_folder(pointer.id, id),
            groups=tuple(group for group, _ in whole),
            spans=tuple(tuple(own) for _, own in whole),
        )

    def _work(self, job: MergeJob) -> JobWork:
        merges = tuple(MergeWork(sources=tuple(self._sources(group))) for group in job.groups)
        return JobWork(job=job.id, topic=job.topic, folder=job.folder, merges=merges)

    def _sources(self, group: Run) -> Iterable[MergeSource]:
        for unit in group:
            for file in unit.files:
                yield MergeSource(file.path, self._locations.key_of(file.path), only_log=file is unit.log_file)

    # --- ending ----------------------------------------------------------------------------------

    async def _end(self, job: MergeJob, rewritten: RewrittenJob) -> bool:
        """Commit the job, or drop it. Raises errors that concern more than this job."""
        error = rewritten.error
        try:
            if error is None:
                await self._commit(job, rewritten)
        except (Fenced, Unavailable):
            raise  # the next go, or the next holder of the lease, finds out what happened to the job
        except Exception as refused:  # noqa: BLE001 - whatever is wrong with one job holds up no other
            error = what_went_wrong(refused)
        if error is not None:
            self._failed(job.topic, error)
            await self._dropped_jobs.drop(LeftJob(job.id, job.table))
        else:
            self._resting.end(job.topic)
            self._requests.merged(job.topic, files=len(job.replaced), into=len(job.groups), bytes=job.bytes)
            self._kinds.forget(job.replaced)
            self._metrics.files_merged(files=len(job.replaced), bytes=job.bytes)
            log.info("files merged", table=job.table, files=len(job.replaced), into=len(rewritten.results))
        del self._unfinished[job.id]
        return error is None

    async def _commit(self, job: MergeJob, rewritten: RewrittenJob) -> None:
        results = rewritten.results
        files = [file for result in results for file in result.files]
        ledger = merge_ledger(job.id, job.topic, job.table, results, job.replaced, folder=job.folder)
        if rewritten.has_more_files:
            counted = {self._locations.key_of(file.path) for file in files}
            await self._locations.delete_below(job.folder, but=counted)
        merges = [_merged_files(group, result) for group, result in zip(job.groups, results, strict=True)]
        spans = tuple(span for own, result in zip(job.spans, results, strict=True) for span in _new_spans(own, result))
        change = JobChange(
            job=job.id,
            topic=job.topic,
            table=job.table,
            files=files,
            ledger=ledger,
            prepare=lambda pointer: self._commits.merge(pointer, merges, summary=ledger.summary),
            commit=lambda move: JobCommit(
                job=job.id, token=job.token, move=move, merged=spans, replaced_files=job.replaced
            ),
        )
        await self._committer.carry_out(change)
        if rewritten.has_more_files:
            written = [f"{job.folder}/{LEDGER_NAME}", *(file.path for file in files)]
            self._dropped_jobs.watch(LeftJob(job.id, job.table), written)

    def _failed(self, topic: TopicId, error: str) -> None:
        self._requests.failed(topic, error)
        self._metrics.merge_dropped()
        pause = self._resting.begin(topic)
        log.warning("files of a topic could not be merged", topic=topic.hex(), error=error, pause_seconds=pause)


def _paths(group: Run) -> frozenset[str]:
    return frozenset(path for unit in group for path in unit.paths)


def _is_whole(spans: Sequence[TabledSpan], paths: AbstractSet[str]) -> bool:
    """Whether the spans of each partition follow one another, and no record lies in any other file as well."""
    alone = all(span.file in paths and (span.log_file is None or span.log_file in paths) for span in spans)
    gapless = all(
        before.partition != after.partition or before.last_offset + 1 == after.base_offset
        for before, after in pairwise(spans)
    )
    return bool(spans) and alone and gapless


def _merged_files(group: Run, result: TaskResult) -> MergedFiles:
    return MergedFiles(
        gone=frozenset(unit.file.path for unit in group if unit.file is not None),
        file=None if result.file is None else data_file(result.file),
        gone_from_log=frozenset(unit.log_file.path for unit in group if unit.log_file is not None),
        log_file=None if result.log_file is None else data_file(result.log_file),
    )


def _new_spans(old: Sequence[TabledSpan], result: TaskResult) -> Iterable[NewFileSpan]:
    """One span for each partition: the offsets of all of its old ones."""
    by_partition: dict[int, list[TabledSpan]] = {}
    for span in old:
        by_partition.setdefault(span.partition, []).append(span)
    files = [file for file in (result.file, result.log_file) if file is not None]
    for partition, own in by_partition.items():
        number = own[0].number
        paths = [file.path for file in files if any(rows.partition == number for rows in file.partitions)]
        yield NewFileSpan(
            partition=partition,
            base_offset=own[0].base_offset,
            last_offset=own[-1].last_offset,
            file=paths[0],
            log_file=paths[1] if len(paths) > 1 else None,
            rows=sum(span.rows for span in own),
            max_timestamp_ms=max(span.max_timestamp_ms for span in own),
        )
