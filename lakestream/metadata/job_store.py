"""JobStore: the metadata store's verbs for compaction, each of them one transaction.

    claim -> debts, inputs -> begin_jobs -> (files are written) -> commit_job | drop_job

One pipeline holds the lease. Its token rises with every new holder; a pipeline with an older token cannot begin or
commit jobs. A job that was begun ends in one of two states, once: committed or dropped.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from lakestream.model.job import (
    AppendedSpan,
    CompactionLease,
    Debt,
    FileUse,
    JobCommit,
    JobId,
    LeftJob,
    NewJob,
    TabledSpan,
    TrimmedTopic,
    UntabledSpan,
)
from lakestream.model.place import Tail
from lakestream.model.table_errors import CompactionFenced, JobDropped, JobForgotten
from lakestream.model.topic import PartitionId, TopicId

COMPACTION = "compaction"
"""The name of the lease."""


class JobState:
    """The values of the job table's `state` column. They are stored, so numbers are never reused."""

    PLANNED = 1
    COMMITTED = 2
    DROPPED = 3


class JobStore(Protocol):
    # --- the right to compact ------------------------------------------------------------------

    async def claim_compaction(self, holder: str, ttl_ms: int) -> CompactionLease | None:
        """Become, or remain, the holder of the lease. A holder whose lease has not run out keeps its token; any other
        gets the next one. None: another pipeline holds it. A lease from before the clock was set back blocks nobody
        (LEASE_MS_MAX)."""
        ...

    async def leave_compaction(self, lease: CompactionLease) -> None:
        """End the lease at once, if it is still the current one."""
        ...

    async def compaction_holder(self) -> str | None:
        """The current holder of the lease."""
        ...

    # --- debts and requests --------------------------------------------------------------------

    async def topics_without_table(self) -> list[TopicId]: ...

    async def debts(self) -> list[Debt]:
        """Partitions with spans in WAL segments, by topic and number. Topics without any take no time."""
        ...

    async def untabled_spans(
        self, partitions: Sequence[PartitionId], spans_max: int
    ) -> dict[PartitionId, tuple[UntabledSpan, ...]]:
        """The first spans of each partition that lie in WAL segments, in offset order; at most `spans_max` each."""
        ...

    async def tails_of_topic(self, topic: TopicId) -> dict[PartitionId, Tail]:
        """One consistent read. Empty where there is no such topic."""
        ...

    async def ask_compaction(self, topics: Sequence[TopicId]) -> None:
        """Request that these topics are compacted at once. A topic that is requested again counts from now on."""
        ...

    async def asked_compactions(self) -> frozenset[TopicId]: ...

    async def answer_compactions(self, topics: Sequence[TopicId], asked_until_ms: int) -> None:
        """Close the requests for these topics: they are compacted, or nothing is left to do for them. Later requests
        stay. Requests from the future are closed too: the clock was set back."""
        ...

    # --- files the log no longer needs ---------------------------------------------------------

    async def trimmed_topics(self) -> list[TrimmedTopic]:
        """Topics with a table whose logs no longer begin at 0, by id."""
        ...

    async def living_files(self, topic: TopicId) -> frozenset[str]:
        """The table files in which any record of the log lies. A file that was in the table before this call and is not
        among them holds nothing from the log's start on, and never will again."""
        ...

    # --- files to merge ------------------------------------------------------------------------

    async def file_uses(self, topic: TopicId) -> list[FileUse]:
        """The files in which the topic's records lie, oldest records first."""
        ...

    async def spans_in_files(self, topic: TopicId, files: Collection[str]) -> list[TabledSpan]:
        """All spans that lie in any of these files, by partition and offset. No span is ever added to a file later."""
        ...

    async def appended_spans(self, topic: TopicId) -> list[AppendedSpan]:
        """The rows of a topic that engines appended to its table, by partition and offset."""
        ...

    # --- jobs ----------------------------------------------------------------------------------

    async def begin_jobs(self, token: int, jobs: Sequence[NewJob]) -> None:
        """Record the jobs before they write anything, so that their leftovers can be found."""
        ...

    async def commit_job(self, commit: JobCommit) -> str:
        """Commit one job, as `commit_jobs` does."""
        ...

    async def commit_jobs(self, commits: Sequence[JobCommit]) -> list[str]:
        """Move the pointers of the jobs' tables and the places of their topics, all together or not at all. Returns for
        each the metadata location that the commit made current; a repeated commit changes nothing and returns what the
        first one did.

        For each partition the range must continue the table's contents: it starts at `tabled_until`, or above it where
        everything in between lies below `log_start`. The WAL spans inside become file spans, their segments are
        released, `tabled_until` becomes the range's end. File spans wholly below `log_start` are left out.

        A span of `merged` takes the place of all file spans in its offsets, which must lie in `replaced_files`. Where
        the log has let go of some of them, it takes the place of the others.

        Raises CompactionFenced if the token is not the current one or the lease has run out; JobDropped; JobForgotten
        if it may have been committed and nobody knows; CommitConflict if the pointer has moved; LedgerConflict if a
        range does not continue, or if the spans to merge are not there; UnknownPartition if the topic was deleted.
        """
        ...

    async def drop_job(self, job: JobId) -> bool:
        """Give the job up for good. False: it was committed before, or its row is gone and it may have been."""
        ...

    async def drop_left_jobs(self, token: int) -> list[LeftJob]:
        """Give up all planned jobs of earlier lease holders. Returns them: their files must be deleted."""
        ...

    async def old_dropped_jobs(self, age_ms: int, limit: int) -> list[LeftJob]:
        """Jobs that were dropped so long ago that no process can still be writing their files."""
        ...

    async def forget_jobs(self, age_ms: int, dropped: Sequence[JobId]) -> None:
        """Remove the rows of these dropped jobs, and of all jobs committed at least this long ago."""
        ...


def compaction_fenced(token: int) -> CompactionFenced:
    return CompactionFenced(
        f"token {token} no longer gives the right to compact: the lease ran out, or another pipeline took over. "
        "Claim it again; what was under way is dropped"
    )


def answer_of(job: JobId, row: Sequence[Any] | None) -> str | None:
    """The answer of a job's commit, or None while the job is planned. `row` has its state and its answer. Raises
    JobDropped, JobForgotten."""
    state, answer = row or (None, None)
    if state == JobState.COMMITTED:
        return str(answer)
    if state != JobState.PLANNED:
        raise job_ended(job, state)
    return None


def job_ended(job: JobId, state: int | None) -> JobDropped | JobForgotten:
    """The error for committing a job that is no longer planned. Only a dropped job was certainly not committed."""
    if state == JobState.DROPPED:
        return JobDropped(f"job {job} was dropped before it was committed: plan its work anew")
    return JobForgotten(
        f"job {job} is not known any more, and may have been committed: its files stay until the table is swept. "
        "Plan anew what is left of its work"
    )
