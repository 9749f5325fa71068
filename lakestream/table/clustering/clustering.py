"""Clusters rows of `main`, within the share of the pipeline's time that upkeep has.

    topics whose turn it is -> their configs' layout in the table -> rows that wait for long enough -> groups
    -> jobs begun -> rewritten (one Spark job) -> committed on `main`, each
                                               -> what failed is dropped, its files deleted

A commit moves the table's pointer and no span: `log` keeps its files, and consumers read them. On `main` the snapshot
has the operation `replace`, which readers of appends skip. Someone else may change the same files meanwhile: the commit
is prepared again from a fresh read, and if a file has gone or has deleted rows now, the job is dropped.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from lakestream.catalog.commits.summaries import CLUSTERING
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.manifests.partition_values import stored_value
from lakestream.catalog.spec.values import Json
from lakestream.catalog.topic.clusterable import Clusterable, MainFile
from lakestream.catalog.topic.merge_plan import MergeLimits
from lakestream.catalog.topic.table_layout import TableLayout, asked_layout
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.layout import ClusterAfter
from lakestream.model.configs.topic_config import cluster_after, typed_topic_config
from lakestream.model.errors import Conflict, Fenced, Invalid, Unavailable, what_went_wrong
from lakestream.model.job import CompactionLease, JobCommit, JobId, LeftJob, NewJob
from lakestream.model.table import MAIN_BRANCH, TableId, TablePointer
from lakestream.model.table_errors import InvalidTableChange
from lakestream.model.topic import Topic, TopicId
from lakestream.table.arrangement.arranging import FieldSource, FileLayout, SortField
from lakestream.table.arrangement.clustered_files import ClusteredFile, ClusterSource, ClusterWork
from lakestream.table.budget import UpkeepBudget
from lakestream.table.clustering.due import ClusteringTurns
from lakestream.table.clustering.plan import Group, groups_of_clustered, groups_of_waiting, within_budget
from lakestream.table.compaction.commit import Committer, JobChange
from lakestream.table.compaction.ledger import data_file
from lakestream.table.compaction.rounds import JobWork, Rewriting, RewrittenJob
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.resting import Resting
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids, ulid_ms

log = structlog.get_logger(__name__)

TOPICS_AT_ONCE = 20
"""Tables looked at in one go. The others have their turn next time."""
_SOON = ClusterAfter(ms=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterJob:
    id: JobId
    token: int
    topic: TopicId
    table: TableId
    folder: str
    layout: TableLayout
    types: tuple[str, ...]
    """The types of partition values."""
    works: tuple[ClusterWork, ...]
    bytes: int
    takes_all: bool
    """Whether no other row waits."""
    branch: str
    summary: Mapping[str, str]
    """What the snapshot says."""

    @property
    def replaced(self) -> frozenset[str]:
        return frozenset(source.path for work in self.works for source in work.sources)


class ClusterRound(NamedTuple):
    """The result of one go."""

    jobs: int
    files: int
    """Files whose rows were clustered."""
    bytes: int


NOTHING = ClusterRound(0, 0, 0)


class ClusteringFailed(Invalid):
    """The rows could not be clustered. The message says why."""


class Clustering:
    def __init__(
        self,
        *,
        store: MetadataStore,
        locations: TableObjects,
        commits: TopicCommits,
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
        self._rewriting = rewriting
        self._committer = committer
        self._dropped_jobs = dropped_jobs
        self._metrics = metrics
        self._limits = limits
        self._budget = budget
        self._clock = clock
        self._ids = ids
        self._resting = Resting(clock)
        self._turns = ClusteringTurns(clock)
        self._unfinished: dict[JobId, LeftJob] = {}
        """Jobs that were begun, and that are not known to be committed or dropped."""

    async def cluster(self, lease: CompactionLease) -> ClusterRound:
        """Cluster what has waited for long enough, if there is time. Raises Fenced, Unavailable and RewriteFailed; what
        was begun is dropped next time."""
        for job in list(self._unfinished.values()):
            await self._dropped_jobs.drop(job)
            del self._unfinished[job.id]
        if not self._budget.is_free and not self._budget.is_off:
            return NOTHING
        began = self._clock.monotonic()
        try:
            return await self._cluster(lease)
        finally:
            took = self._clock.monotonic() - began
            self._budget.spent(took)
            self._metrics.clustering_took(took)

    async def _cluster(self, lease: CompactionLease) -> ClusterRound:
        topics = (await self._store.topics()).topics
        self._resting.keep({one.id for one in topics})
        self._turns.keep({one.id for one in topics})
        jobs = await self._plan(lease, topics)
        errors = await self._carried_out(lease, jobs)
        for job in jobs:
            self._note(job, errors[job.id])
        done = [job for job in jobs if errors[job.id] is None]
        return ClusterRound(len(done), sum(len(job.replaced) for job in done), sum(job.bytes for job in done))

    async def cluster_side_branch(
        self, lease: CompactionLease, topic: TopicId, pointer: TablePointer, branch: str, summary: Mapping[str, str]
    ) -> bool:
        """Cluster as much of another branch as one go takes, whatever it has waited for. Returns False if nothing is
        left. Raises ClusteringFailed, and as `cluster`."""
        found = await self._commits.clusterable(pointer, branch)
        if found.layout.is_plain:
            return False
        by_age = groups_of_waiting(found.waiting, self._limits, came=lambda file: file.path)
        groups = within_budget(by_age, self._limits.round_bytes_max)
        if not groups:
            return False
        job = await self._job(lease, topic, pointer, found, groups, branch=branch, summary=summary)
        if (error := (await self._carried_out(lease, [job]))[job.id]) is not None:
            raise ClusteringFailed(error)
        return True

    async def _carried_out(self, lease: CompactionLease, jobs: Sequence[ClusterJob]) -> dict[JobId, str | None]:
        """Why each job was dropped; None for those that were committed."""
        if not jobs:
            return {}
        self._unfinished |= {job.id: LeftJob(job.id, job.table) for job in jobs}
        await self._store.jobs.begin_jobs(lease.token, [NewJob(job.id, job.table) for job in jobs])
        works = [JobWork(job=job.id, topic=job.topic, folder=job.folder, clusters=job.works) for job in jobs]
        rewritten = await self._rewriting.rewrite(works)
        return {job.id: await self._end(job, rewritten[job.id]) for job in jobs}

    # --- planning --------------------------------------------------------------------------------

    async def _plan(self, lease: CompactionLease, topics: Sequence[Topic]) -> list[ClusterJob]:
        is_fast = any(typed_topic_config(topic.config).freshness.is_fast for topic in topics)
        left = self._limits.short_round_bytes_max if is_fast else self._limits.round_bytes_max
        jobs: list[ClusterJob] = []
        awake = [topic for topic in topics if not self._resting.rests(topic.id, asked=False)]
        turns = [topic for topic in awake if self._turns.is_turn(topic.id, topic.config)]
        for topic in turns[:TOPICS_AT_ONCE]:
            if left <= 0:
                break
            try:
                job = await self._planned(lease, topic, left)
            except (Fenced, Unavailable):
                raise
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one table holds up no other
                self._failed(topic.id, what_went_wrong(error))
                continue
            if job is not None:
                jobs.append(job)
                left -= job.bytes
        return jobs

    async def _planned(self, lease: CompactionLease, topic: Topic, bytes_max: int) -> ClusterJob | None:
        pointer = await self._store.tables.table_of_topic(topic.id)
        if pointer is None:
            self._turns.looked(topic.id, topic.config, _SOON)
            return None
        pointer, settled = await self._laid_out(topic, pointer)
        layout, after = await self._commits.layout(pointer), cluster_after(topic.config)
        self._turns.looked(topic.id, topic.config, None if layout.is_plain and settled else after)
        if layout.is_plain or after.is_never or self._budget.is_off:
            return None
        found = await self._commits.clusterable(pointer)
        if found.has_lineage:
            return None
        waiting = await self._due(topic.id, pointer, found, after)
        now_ms = self._clock.wall_ms()
        by_age = groups_of_waiting(waiting, self._limits, came=lambda file: self._came_ms(pointer, file, now_ms))
        groups = within_budget([*by_age, *groups_of_clustered(found.clustered, self._limits)], bytes_max)
        if not groups:
            return None
        return await self._job(lease, topic.id, pointer, found, groups, branch=MAIN_BRANCH, summary={})

    async def _laid_out(self, topic: Topic, pointer: TablePointer) -> tuple[TablePointer, bool]:
        """The table with the layout of the topic's configs, and whether it has it: the columns may be missing yet."""
        try:
            prepared = await self._commits.lay_out(pointer, asked_layout(topic.config))
        except InvalidTableChange as error:
            log.warning("a table cannot have the layout of its topic's configs", topic=topic.name, error=str(error))
            return pointer, False
        if prepared is None:
            return pointer, True
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)  # someone else committed: the next look begins from there
            return pointer, False
        await self._commits.finish(prepared)
        log.info("a table has a new layout", topic=topic.name, layout=asked_layout(topic.config))
        return prepared.move.pointer, True

    async def _job(
        self,
        lease: CompactionLease,
        topic: TopicId,
        pointer: TablePointer,
        found: Clusterable,
        groups: Sequence[Group],
        *,
        branch: str,
        summary: Mapping[str, str],
    ) -> ClusterJob:
        id = self._ids.ulid()
        taken = {file.path for group in groups for file in group}
        return ClusterJob(
            id=id,
            token=lease.token,
            topic=topic,
            table=pointer.id,
            folder=self._locations.job_folder(pointer.id, id),
            layout=found.layout,
            types=found.types,
            works=tuple([await self._work(topic, group, found.layout) for group in groups]),
            bytes=sum(file.bytes for group in groups for file in group),
            takes_all=all(file.path in taken for file in found.waiting),
            branch=branch,
            summary={**summary, CLUSTERING: id},
        )

    async def _due(
        self, topic: TopicId, pointer: TablePointer, found: Clusterable, after: ClusterAfter
    ) -> list[MainFile]:
        """The files that wait, if they have waited for long enough."""
        waiting = found.waiting
        if not waiting:
            self._turns.nothing_waits(topic)
            return []
        now_ms = self._clock.wall_ms()
        oldest_ms = min(self._came_ms(pointer, file, now_ms) for file in waiting)
        size = sum(file.bytes for file in waiting)
        due = self._turns.are_due(topic, after, oldest_ms=oldest_ms, bytes=size, now_ms=now_ms)
        return waiting if due else []

    def _came_ms(self, pointer: TablePointer, file: MainFile, now_ms: int) -> int:
        """When the file was begun, by the id of its job. Other engines' files come when they are seen."""
        if not self._locations.is_below(file.path, [self._locations.log_folder(pointer.id)]):
            return now_ms
        job = self._locations.job_of(file.path)
        return now_ms if job is None else ulid_ms(job)

    async def _work(self, topic: TopicId, group: Group, layout: TableLayout) -> ClusterWork:
        last: dict[int, int] = {}
        for span in await self._store.jobs.spans_in_files(topic, [file.path for file in group]):
            last[span.number] = max(span.last_offset, last.get(span.number, -1))
        return ClusterWork(
            sources=tuple(ClusterSource(file.path, self._locations.key_of(file.path)) for file in group),
            layout=_file_layout(layout),
            last_offsets=tuple(sorted(last.items())),
        )

    # --- ending ----------------------------------------------------------------------------------

    async def _end(self, job: ClusterJob, rewritten: RewrittenJob) -> str | None:
        """Commit the job, or drop it and say why. Raises errors that concern more than one job."""
        error = rewritten.error
        try:
            if error is None:
                await self._commit(job, rewritten)
        except (Fenced, Unavailable):
            raise  # the next go, or the next holder of the lease, finds out what happened to the job
        except Exception as refused:  # noqa: BLE001 - whatever is wrong with one job holds up no other
            error = what_went_wrong(refused)
        if error is not None:
            await self._dropped_jobs.drop(LeftJob(job.id, job.table))
        else:
            self._metrics.files_clustered(files=len(job.replaced), bytes=job.bytes)
            into = sum(len(result.clustered) for result in rewritten.results)
            log.info("files clustered", table=job.table, branch=job.branch, files=len(job.replaced), into=into)
        del self._unfinished[job.id]
        return error

    def _note(self, job: ClusterJob, error: str | None) -> None:
        """Decide when the job's topic has its next turn."""
        if error is not None:
            self._failed(job.topic, error)
            return
        self._resting.end(job.topic)
        if job.takes_all:
            self._turns.nothing_waits(job.topic)
        else:
            self._turns.look_again_soon(job.topic)

    async def _commit(self, job: ClusterJob, rewritten: RewrittenJob) -> None:
        clustered = [each for result in rewritten.results for each in result.clustered]
        files = [_data_file(each, job) for each in clustered]
        if rewritten.has_more_files:
            counted = {self._locations.key_of(each.file.path) for each in clustered}
            await self._locations.delete_below(job.folder, but=counted)
        change = JobChange(
            job=job.id,
            topic=job.topic,
            table=job.table,
            files=[each.file for each in clustered],
            ledger=None,
            prepare=lambda pointer: self._commits.cluster(
                pointer, job.replaced, files, summary=job.summary, branch=job.branch
            ),
            commit=lambda move: JobCommit(job=job.id, token=job.token, move=move),
        )
        await self._committer.carry_out(change)
        if rewritten.has_more_files:
            self._dropped_jobs.watch(LeftJob(job.id, job.table), [each.file.path for each in clustered])

    def _failed(self, topic: TopicId, error: str) -> None:
        self._metrics.clustering_dropped()
        pause = self._resting.begin(topic)
        log.warning("rows of a topic could not be clustered", topic=topic.hex(), error=error, pause_seconds=pause)


def _file_layout(layout: TableLayout) -> FileLayout:
    return FileLayout(
        spec_id=layout.spec_id,
        partition=tuple(map(_source, layout.spec["fields"])),
        order_id=layout.order_id,
        order=tuple(
            SortField(_source(field), field["direction"], field["null-order"]) for field in layout.order["fields"]
        ),
    )


def _source(field: Json) -> FieldSource:
    return FieldSource(field["source-id"], field["transform"])


def _data_file(clustered: ClusteredFile, job: ClusterJob) -> DataFile:
    """The file in the catalog's form."""
    return {
        **data_file(clustered.file),
        "spec-id": job.layout.spec_id,
        "partition": [stored_value(type, value) for type, value in zip(job.types, clustered.partition, strict=True)],
        "sort-order-id": job.layout.order_id,
    }
