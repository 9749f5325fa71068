"""Deletes the files of jobs that were never committed, and never a file that something refers to.

    dropped by us          -> its folder is deleted at once
    left by a crash        -> the next holder of the lease drops it, then deletes its folder
    a writer that went on  -> an hour later every dropped job's folder is looked at once more, then it is forgotten;
                              so is that of a committed job if workers were given up: they may have written since

A job is dropped before its files are deleted, and a dropped job can no longer be committed. A job that the store does
not know may have been committed: nothing of it is deleted here, and the daily sweep finds its leftovers.
"""

from collections.abc import Iterable

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.job import JobId, LeftJob
from lakestream.world.ids import ulid_ms

log = structlog.get_logger(__name__)

DROPPED_KEPT_MS = 3_600_000
"""Longer than any worker goes on writing for a driver that is gone."""
SWEPT_AT_ONCE = 1_000
WATCHED_MAX = 10_000
"""Committed jobs to check once more. They are few; above this the oldest are not checked."""


class DroppedJobs:
    def __init__(self, store: MetadataStore, locations: TableObjects) -> None:
        self._store = store
        self._locations = locations
        self._watched: dict[JobId, tuple[LeftJob, frozenset[str]]] = {}
        """Committed jobs that may still get stray files, with the keys of the files that count."""

    async def drop(self, job: LeftJob) -> None:
        """Give up one of our own jobs and delete its files. A job that was committed, or may have been, keeps them."""
        if await self._store.jobs.drop_job(job.id):
            await self._delete(job)

    def watch(self, job: LeftJob, files: Iterable[str]) -> None:
        """The job was committed with `files` (locations), and abandoned workers may still write for it."""
        self._watched[job.id] = (job, frozenset(map(self._locations.key_of, files)))
        if len(self._watched) > WATCHED_MAX:
            del self._watched[next(iter(self._watched))]

    async def take_over(self, token: int) -> None:
        """Clean up the unfinished jobs of earlier holders of the lease."""
        for job in await self._store.jobs.drop_left_jobs(token):
            log.info("a job that was never finished is dropped", job=job.id, table=job.table)
            await self._delete(job)

    async def sweep(self) -> None:
        """Check jobs once more that were dropped a while ago, then forget them. The same for watched committed jobs."""
        old = await self._store.jobs.old_dropped_jobs(DROPPED_KEPT_MS, SWEPT_AT_ONCE)
        cleared = [job.id for job in old if await self._delete(job)]
        await self._store.jobs.forget_jobs(DROPPED_KEPT_MS, cleared)
        if self._watched:
            await self._sweep_watched(await self._store.now_ms() - DROPPED_KEPT_MS)

    async def _sweep_watched(self, before_ms: int) -> None:
        for job, counted in [kept for id, kept in self._watched.items() if ulid_ms(id) < before_ms]:
            if await self._delete(job, but=counted):
                del self._watched[job.id]

    async def _delete(self, job: LeftJob, *, but: frozenset[str] = frozenset()) -> bool:
        try:
            await self._locations.delete_below(self._locations.job_folder(job.table, job.id), but=but)
        except LakestreamError as error:
            # The job stays dropped, or watched, so the sweep returns to it.
            log.warning("files that a job left could not be deleted yet", job=job.id, error=str(error))
            return False
        return True
