"""Compaction in SQLite: the verbs that both stores share, and the commit of a job."""

from collections.abc import Callable

from lakestream.metadata.sqlite.job_commit import commit_job
from lakestream.metadata.sqlite.running import Run, SqliteDatabase
from lakestream.metadata.verbs.jobs import JobVerbs
from lakestream.model.job import JobCommit


class SqliteJobs(JobVerbs):
    def __init__(self, *, write: Run, read: Run, now_ms: Callable[[], int]) -> None:
        super().__init__(SqliteDatabase(write=write, read=read, now_ms=now_ms))
        self._write = write
        self._now = now_ms

    async def commit_job(self, commit: JobCommit) -> str:
        return await self._write(lambda c: commit_job(c, commit, self._now()))
