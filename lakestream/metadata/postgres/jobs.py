"""Compaction in PostgreSQL: the verbs that both stores share, and the commit of a job."""

from lakestream.metadata.postgres.job_commit import commit_job
from lakestream.metadata.postgres.running import PostgresDatabase, Run
from lakestream.metadata.verbs.jobs import JobVerbs
from lakestream.model.job import JobCommit


class PostgresJobs(JobVerbs):
    def __init__(self, *, write: Run, read: Run) -> None:
        super().__init__(PostgresDatabase(write=write, read=read))
        self._write = write

    async def commit_job(self, commit: JobCommit) -> str:
        return await self._write(lambda c: commit_job(c, commit))
