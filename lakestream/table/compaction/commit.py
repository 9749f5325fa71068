"""Commits jobs: writes snapshots and metadata, then moves pointers and places together in one transaction.

    files there? ledger  |
    table as it is now   |  all at once -> commit_jobs -> old files go
    -> manifests, lists, |
       metadata.json     |  ^ someone else moved the pointer: from a fresh read, a few times

Nothing of this is visible before the transaction, so the writes do not wait for one another.

The table as it is found decides which snapshots a commit needs: one for both branches while they agree, one for each
after someone changed `main`. If the answer to a commit is lost, the committer asks again: the store commits a job once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.topic_commits import Evolve, PreparedCommit, TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Conflict, LakestreamError, ObjectExists, Unavailable, what_went_wrong
from lakestream.model.job import JobCommit, JobId, NewFileSpan, TabledRange
from lakestream.model.table import PointerMove, TableId, TablePointer
from lakestream.model.table_errors import CommitConflict, DamagedTable, JobForgotten, UnknownTable
from lakestream.model.topic import TopicId
from lakestream.storage.records.header import NO_TIMESTAMP
from lakestream.storage.tablefile.format.descriptor import FileDescriptor, PartitionRows
from lakestream.table.compaction.ledger import Ledger, files_by_branch, ledger_of
from lakestream.table.compaction.plan import PlannedJob, TaskSpan
from lakestream.table.compaction.task import TaskResult
from lakestream.world.clock import Clock
from lakestream.world.objects.store import ObjectStore
from lakestream.world.tasks import both

log = structlog.get_logger(__name__)

ATTEMPTS_MAX = 6
"""How often a commit is prepared again because someone else committed to the table meanwhile."""
YIELD_SECONDS_FIRST = 0.1
YIELD_SECONDS_MAX = 2.0
"""The faster committer may be about to commit again: give way, longer each time."""
PREPARED_AT_ONCE = 8
"""Tables of one commit whose manifests and metadata are written at the same time."""
ASKS_MAX = 10
ASK_AGAIN_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BegunJob:
    """A planned job that the store has recorded, and the folder of its files."""

    id: JobId
    token: int
    plan: PlannedJob
    folder: str


class RewrittenFiles(NamedTuple):
    """A job whose files are written. `evolve` adapts the table's schema to them."""

    job: BegunJob
    results: Sequence[TaskResult]
    evolve: Evolve | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobChange:
    """What a job's commit consists of. Both functions are called again for each attempt."""

    job: JobId
    topic: TopicId
    table: TableId
    files: Sequence[FileDescriptor]
    """The files that the job has written."""
    ledger: Ledger | None
    """None for a job that changes `main` alone, where nobody asks which offsets lie in which file."""
    prepare: Callable[[TablePointer], Awaitable[PreparedCommit]]
    """Prepares the table's next version."""
    commit: Callable[[PointerMove], JobCommit]


class Committer:
    def __init__(
        self,
        *,
        store: MetadataStore,
        objects: ObjectStore,
        locations: TableObjects,
        commits: TopicCommits,
        clock: Clock,
    ) -> None:
        self._store = store
        self._objects = objects
        self._locations = locations
        self._commits = commits
        self._clock = clock

    async def commit(self, jobs: Sequence[RewrittenFiles]) -> None:
        """Commit the jobs together: each table shows its rows, or none does. Raises as `carry_out` does."""
        await self._carry_out([self._change(*each) for each in jobs])

    def _change(self, job: BegunJob, results: Sequence[TaskResult], evolve: Evolve | None) -> JobChange:
        ledger = ledger_of(job.id, job.plan, results, folder=job.folder)
        return JobChange(
            job=job.id,
            topic=job.plan.topic,
            table=job.plan.table,
            files=[file for result in results for file in result.files],
            ledger=ledger,
            prepare=lambda pointer: self._commits.append(
                pointer, files_by_branch(results), summary=ledger.summary, evolve=evolve
            ),
            commit=lambda move: JobCommit(
                job=job.id,
                token=job.token,
                move=move,
                ranges=tuple(TabledRange(each.partition, each.start, each.end) for each in job.plan.ranges),
                spans=tuple(file_spans(job.plan, results)),
            ),
        )

    async def carry_out(self, change: JobChange) -> str:
        """Returns the metadata location that the commit made current.

        Raises Conflict and its subclasses, UnknownPartition and UnknownTable if the job has become pointless;
        Unavailable and JobForgotten if the outcome is unknown."""
        return (await self._carry_out([change]))[0]

    async def _carry_out(self, changes: Sequence[JobChange]) -> list[str]:
        pause = YIELD_SECONDS_FIRST
        for attempt in range(ATTEMPTS_MAX - 1):
            try:
                return await self._attempt(changes, vouched=attempt > 0)
            except CommitConflict as conflict:
                jobs = [change.job for change in changes]
                log.info("someone else committed to a table; committing again", jobs=jobs, conflict=str(conflict))
                await self._clock.sleep(pause)
                pause = min(2 * pause, YIELD_SECONDS_MAX)
        return await self._attempt(changes, vouched=True)

    async def _attempt(self, changes: Sequence[JobChange], *, vouched: bool) -> list[str]:
        all_prepared = await self._prepared(changes, vouched=vouched)
        commits = [change.commit(prepared.move) for change, prepared in zip(changes, all_prepared, strict=True)]
        try:
            locations = await self._asked(commits)
        except (Unavailable, JobForgotten):
            raise  # it may have been committed, so its files must stay until someone finds out
        except LakestreamError:
            await self._abandon(all_prepared)
            raise
        for prepared, location in zip(all_prepared, locations, strict=True):
            await self._settle(prepared, location)
            await self._tend(prepared.move.pointer)
        return locations

    async def _prepared(self, changes: Sequence[JobChange], *, vouched: bool) -> list[PreparedCommit]:
        """The next version of every table, or of none."""
        places = asyncio.Semaphore(PREPARED_AT_ONCE)

        async def prepare(change: JobChange) -> PreparedCommit:
            async with places:
                return await self._prepare(change, vouched=vouched)

        found = await asyncio.gather(*map(prepare, changes), return_exceptions=True)
        if errors := [each for each in found if isinstance(each, BaseException)]:
            await self._abandon([each for each in found if not isinstance(each, BaseException)])
            raise errors[0]
        return [each for each in found if not isinstance(each, BaseException)]

    async def _prepare(self, change: JobChange, *, vouched: bool) -> PreparedCommit:
        pointer = await self._store.tables.table_of_topic(change.topic)
        if pointer is None or pointer.id != change.table:
            raise UnknownTable(f"table {change.table} no longer belongs to its topic: it was dropped or replaced")
        preparing = change.prepare(pointer)
        return await (preparing if vouched else self._vouched(change, preparing))

    async def _abandon(self, all_prepared: Sequence[PreparedCommit]) -> None:
        for prepared in all_prepared:
            await self._commits.abandon(prepared)

    async def _vouched(self, change: JobChange, preparing: Awaitable[PreparedCommit]) -> PreparedCommit:
        """Check the files and prepare the commit in parallel. If files are missing, undo the preparation."""
        vouched, prepared = await asyncio.gather(
            self._vouch(change.files, change.ledger), preparing, return_exceptions=True
        )
        if isinstance(prepared, BaseException):
            raise prepared
        if isinstance(vouched, BaseException):
            await self._commits.abandon(prepared)
            raise vouched
        return prepared

    async def _asked(self, commits: Sequence[JobCommit]) -> list[str]:
        """Ask until the store answers. Repeating a commit is safe."""
        for _ in range(ASKS_MAX - 1):
            try:
                return await self._commit_once(commits)
            except Unavailable as error:
                jobs = [commit.job for commit in commits]
                log.warning("the commit's fate is not known; asking again", jobs=jobs, error=str(error))
                await self._clock.sleep(ASK_AGAIN_SECONDS)
        return await self._commit_once(commits)

    async def _commit_once(self, commits: Sequence[JobCommit]) -> list[str]:
        if len(commits) == 1:
            return [await self._store.jobs.commit_job(commits[0])]
        return await self._store.jobs.commit_jobs(commits)

    async def _settle(self, prepared: PreparedCommit, location: str) -> None:
        if location == prepared.move.pointer.metadata_location:
            await self._commits.finish(prepared)
        else:
            await self._commits.abandon(prepared)  # an earlier attempt was the one that counted

    async def _tend(self, pointer: TablePointer) -> None:
        """Expire old snapshots. The commit stands whether or not this succeeds; the next one tries again."""
        try:
            await self._expire(pointer)
        except Exception as error:  # noqa: BLE001 - the commit stands
            log.warning("a table could not be tended after its commit", table=pointer.id, error=what_went_wrong(error))

    async def _expire(self, pointer: TablePointer) -> None:
        if (prepared := await self._commits.expire(pointer)) is None:
            return
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)
        else:
            await self._commits.finish(prepared)

    async def _vouch(self, files: Sequence[FileDescriptor], ledger: Ledger | None) -> None:
        """Check the data files and write the ledger, before the commit becomes visible. Raises DamagedTable."""
        if ledger is None:
            await self._check_files(files)
        else:
            await both(self._check_files(files), self._write_ledger(ledger))

    async def _check_files(self, files: Sequence[FileDescriptor]) -> None:
        """Check that every file is there and complete. Raises DamagedTable."""
        sizes = await self._objects.sizes([self._locations.key_of(file.path) for file in files])
        for file, size in zip(files, sizes, strict=True):
            if size != file.file_size_bytes:
                raise DamagedTable(
                    f"{file.path} was written with {file.file_size_bytes} bytes and has {size or 0}: plan anew"
                )

    async def _write_ledger(self, ledger: Ledger) -> None:
        try:
            await self._locations.write(ledger.location, ledger.content)
        except ObjectExists:
            return  # by an earlier try: the same job has the same ledger


def file_spans(plan: PlannedJob, results: Sequence[TaskResult]) -> list[NewFileSpan]:
    """The offsets of each partition in each file, as planned. A file may end with a hole."""
    partition_of = {each.number: each.partition for each in plan.ranges}
    found = []
    for result in results:
        files = [(file.path, _by_number(file)) for file in (result.file, result.log_file) if file is not None]
        for number, (start, last_offset) in _held(plan.tasks[result.number]).items():
            paths = [path for path, by_number in files if number in by_number]
            own = [by_number[number] for _, by_number in files if number in by_number]
            found.append(
                NewFileSpan(
                    partition=partition_of[number],
                    base_offset=start,
                    last_offset=last_offset,
                    file=paths[0] if paths else files[0][0],  # nothing but a hole: any file of the task stands for it
                    log_file=paths[1] if len(paths) > 1 else None,
                    rows=sum(rows.rows for rows in own),
                    max_timestamp_ms=max((rows.max_timestamp_ms for rows in own), default=NO_TIMESTAMP),
                )
            )
    return found


def _held(task: Sequence[TaskSpan]) -> dict[int, tuple[int, int]]:
    """The first and last offset of each partition in a task."""
    held: dict[int, tuple[int, int]] = {}
    for number, start, span in task:
        held[number] = (held[number][0] if number in held else start, span.last_offset)
    return held


def _by_number(file: FileDescriptor) -> dict[int, PartitionRows]:
    return {rows.partition: rows for rows in file.partitions}
