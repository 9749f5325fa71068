"""Mutants of the tables: one safeguard of the joint commit, or of what surrounds it, taken out."""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from lakestream.catalog.commits import snapshots
from lakestream.metadata.job_store import COMPACTION, JobState
from lakestream.metadata.sqlite import job_commit
from lakestream.metadata.verbs.jobs import JobVerbs
from lakestream.metadata.verbs.running import writes
from lakestream.metadata.verbs.steps import Steps, one_row
from lakestream.model.errors import Conflict, Unavailable
from lakestream.model.job import CompactionLease, JobCommit, JobId
from lakestream.table.compaction import rewrite
from lakestream.table.compaction.commit import Committer
from lakestream.table.compaction.rounds import Rewriting, RewrittenJob
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from tests.simulation.mutants import Mutant, no_steps


def _a_pipeline_without_lease_may_commit(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(job_commit, "check_token", no_steps)


def _jobs_need_not_continue_one_another(patch: pytest.MonkeyPatch) -> None:
    """The lease would hide it, so everyone is given it; and commits are quick, so they are made to meet."""
    claim, ask = JobVerbs.claim_compaction, Committer._asked

    @writes
    def anyones(self: JobVerbs, holder: str, ttl_ms: int) -> Steps[CompactionLease]:
        (token,) = yield from one_row("SELECT token FROM lease WHERE name = :name", name=COMPACTION)
        return CompactionLease(holder=holder, token=token, ttl_ms=ttl_ms)

    async def slowly(self: Committer, commits: Sequence[JobCommit]) -> list[str]:
        await self._clock.sleep(1.0)
        return await ask(self, commits)

    async def for_everyone(self: JobVerbs, holder: str, ttl_ms: int) -> CompactionLease:
        return await claim(self, holder, ttl_ms) or await anyones(self, holder, ttl_ms)

    patch.setattr(Committer, "_asked", slowly)
    patch.setattr(JobVerbs, "claim_compaction", for_everyone)
    patch.setattr(job_commit, "check_range", lambda *_: None)


def _tabled_segments_are_not_released(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(job_commit, "release", no_steps)


def _the_pointer_moves_and_the_places_stay(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(job_commit, "_take_over", lambda *_: Counter())


def _the_places_move_and_the_pointer_stays(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(job_commit, "_move_pointer", lambda *_: None)


def _a_repeated_commit_is_not_recognised(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(job_commit, "_known_answer", lambda *_: None)


def _a_dropped_job_may_be_committed(patch: pytest.MonkeyPatch) -> None:
    known_answer = job_commit._known_answer

    def forgetful(connection: sqlite3.Connection, job: JobId) -> str | None:
        connection.execute("UPDATE job SET state = ? WHERE id = ? AND answer IS NULL", (JobState.PLANNED, job))
        return known_answer(connection, job)

    patch.setattr(job_commit, "_known_answer", forgetful)
    patch.setattr(job_commit, "check_token", no_steps)


def _an_unanswered_commit_counts_as_refused(patch: pytest.MonkeyPatch) -> None:
    async def ask_once(self: Committer, commits: Sequence[JobCommit]) -> list[str]:
        try:
            return await self._commit_once(commits)
        except Unavailable as error:
            raise Conflict("no answer, so it was refused") from error

    patch.setattr(Committer, "_asked", ask_once)


def _main_is_put_where_log_is(patch: pytest.MonkeyPatch) -> None:
    def together(metadata: Any, files: Mapping[str, Sequence[Any]]) -> list[tuple[list[str], Sequence[Any]]]:
        return [(list(files), next(iter(files.values())))]

    patch.setattr(snapshots, "_groups", together)


def _files_of_dropped_jobs_stay(patch: pytest.MonkeyPatch) -> None:
    async def keep(self: DroppedJobs, job: Any, *, but: frozenset[str] = frozenset()) -> bool:
        return True

    patch.setattr(DroppedJobs, "_delete", keep)


def _files_stand_that_lack_a_column(patch: pytest.MonkeyPatch) -> None:
    async def know_enough(self: Rewriting, job: RewrittenJob) -> bool:
        return False

    patch.setattr(Rewriting, "_knows_more", know_enough)


def _what_is_set_aside_is_not_put_into_quarantine(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rewrite, "quarantined", lambda stretch: None)


TABLE_MUTANTS: Mapping[str, Mutant] = {
    "a pipeline without lease may commit": Mutant("tables zombies", _a_pipeline_without_lease_may_commit, "tables"),
    "jobs need not continue one another": Mutant(
        "tables strangers", _jobs_need_not_continue_one_another, "tables", 286
    ),
    "tabled segments are not released": Mutant("tables calm", _tabled_segments_are_not_released, "tables"),
    "the pointer moves and the places stay": Mutant("tables calm", _the_pointer_moves_and_the_places_stay, "tables"),
    "the places move and the pointer stays": Mutant("tables calm", _the_places_move_and_the_pointer_stays, "tables"),
    "a repeated commit is not recognised": Mutant(
        "tables lossy store", _a_repeated_commit_is_not_recognised, "tables", 636
    ),
    "a dropped job may be committed": Mutant("tables zombies", _a_dropped_job_may_be_committed, "tables"),
    "an unanswered commit counts as refused": Mutant(
        "tables lossy store", _an_unanswered_commit_counts_as_refused, "tables", 636
    ),
    "main is put where log is": Mutant("tables strangers", _main_is_put_where_log_is, "tables"),
    "files stand that lack a column": Mutant("tables calm", _files_stand_that_lack_a_column, "tables"),
    "what is set aside is not put into quarantine": Mutant(
        "tables calm", _what_is_set_aside_is_not_put_into_quarantine, "tables", 88
    ),
    "files of dropped jobs stay": Mutant("tables lossy objects", _files_of_dropped_jobs_stay, "tables", 51),
}
