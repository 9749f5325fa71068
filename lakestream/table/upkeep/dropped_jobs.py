"""What jobs leave behind that were never committed: their files go, and never a file that is referred to.

    dropped by us          -> its folder is deleted at once
    left by a crash        -> the next holder of the lease drops it, then deletes its folder
    a writer that went on  -> an hour later every dropped job's folder is looked at once more, then it is forgotten;
                              so is that of a committed job if workers were given up: they may have written since

A job is dropped before anything of it is deleted, and a dropped job can no longer be committed. What nobody remembers
may have been committed: of such a job nothing is deleted here, and the daily look finds what is really left.
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
"""Committed jobs that are to be looked at once more. They are few; beyond it the oldest are left alone."""


class DroppedJobs:
    def __init__(self, store: MetadataStore, locations: TableObjects) -> None:
        self._store = store
        self._locations = locations
        self._watched: dict[JobId, tuple[LeftJob, frozenset[str]]] = {}
        """Committed jobs that may get files which nobody counts, with the keys of those that count."""

    async def drop(self, job: LeftJob) -> None:
        """Give up a job of our own and delete its files; one that was committed, or may have been, keeps them."""
        if await self._store.jobs.drop_job(job.id):
            await self._delete(job)

    def watch(self, job: LeftJob, files: Iterable[str]) -> None:
        """The job was committed with `files` (locations), and workers that were given up may still write for it."""
        self._watched[job.id] = (job, frozenset(map(self._locations.key_of, files)))
        if len(self._watched) > WATCHED_MAX:
            del self._watched[next(iter(self._watched))]

    async def take_over(self, token: int) -> None:
        """Clear away what earlier holders of the lease did not finish."""
        for job in await self._store.jobs.drop_left_jobs(token):
            log.info("a job that was never finished is dropped", job=job.id, table=job.table)
            await self._delete(job)

    async def sweep(self) -> None:
        """Dropped jobs of a while ago once more, and then forget them; committed ones are forgotten as well."""
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
            # The job stays dropped, or watched: the sweep comes back to it.
            log.warning("files that a job left could not be deleted yet", job=job.id, error=str(error))
            return False
        return True
