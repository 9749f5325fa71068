"""Repairs that users request for values that were set aside; the pipeline carries them out.

    asked -> files of the branch `quarantine` -> rewritten (set_aside.py) -> one commit: from `quarantine` to `main`
          -> answered

A repair is a job like any other: the pipeline's token fences it, and a failed one is cleaned up. Its snapshots record
which repair they belong to and its result. So a repair that was committed but not answered is not done again, and the
waiting user gets the recorded result.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Fenced, InvalidRequest, LakestreamError, Unavailable, what_went_wrong
from lakestream.model.job import CompactionLease, JobCommit, JobId, LeftJob, NewJob
from lakestream.model.repair import RecordPlace, Repair, RepairAction, RepairState
from lakestream.model.table import MAIN_BRANCH, QUARANTINE_BRANCH, TablePointer
from lakestream.model.table_errors import CommitConflict, ContractMoved, JobForgotten, UnknownTable
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.table.compaction.ledger import data_file
from lakestream.table.compaction.rounds import JobWork, Rewriting, RewrittenJob
from lakestream.table.compaction.set_aside import SetAside
from lakestream.table.contracts import evolution
from lakestream.table.resting import Resting
from lakestream.table.upkeep.dropped_jobs import DroppedJobs
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids

log = structlog.get_logger(__name__)

ATTEMPTS_MAX = 4
"""How often a repair is done again because someone else committed to the table meanwhile."""
FILES_PER_TASK = 50
REPAIR, REPAIR_JOB = "lakestream.repair", "lakestream.repair-job"
REPAIRED, REMAINING = "lakestream.repaired-rows", "lakestream.remaining-rows"
"""Keys in snapshot summaries."""


class Repairs:
    def __init__(
        self,
        *,
        store: MetadataStore,
        locations: TableObjects,
        commits: TopicCommits,
        rewriting: Rewriting,
        dropped_jobs: DroppedJobs,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._rewriting = rewriting
        self._dropped_jobs = dropped_jobs
        self._ids = ids
        self._resting = Resting(clock)
        """Topics whose repairs got no answer from a store. Compaction, which comes next, need not wait for them."""
        self._unanswered: list[LeftJob] = []
        """Jobs with an unknown outcome of their commit."""

    async def work_off(self, lease: CompactionLease) -> None:
        """Do all requested repairs. Raises errors that concern more than one of them: Fenced, Unavailable.

        Repairs without an answer are tried again after a while."""
        while self._unanswered:
            await self._dropped_jobs.drop(self._unanswered[-1])  # a committed job keeps its files
            self._unanswered.pop()
        asked = [repair for repair in await self._store.repairs.asked() if repair.is_about_values]
        self._resting.keep({repair.topic for repair in asked})
        for repair in asked:
            if self._resting.rests(repair.topic, asked=True):
                continue
            try:
                answer = await self._repaired(lease, repair)
            except (Fenced, Unavailable):
                self._resting.begin(repair.topic)
                raise
            except Exception as error:  # noqa: BLE001 - or it would be begun, and end the pipeline, again and again
                reason = what_went_wrong(error)
                log.warning("a repair failed", repair=repair.id, error=reason)
                await self._store.repairs.answer(repair.id, RepairState.FAILED, reason)
            else:
                await self._store.repairs.answer(repair.id, RepairState.DONE, json.dumps(answer))

    async def _repaired(self, lease: CompactionLease, repair: Repair) -> dict[str, int]:
        request = _request(repair.request)
        for _ in range(ATTEMPTS_MAX - 1):
            try:
                return await self._attempt(lease, repair, request)
            except (CommitConflict, ContractMoved):
                continue
        return await self._attempt(lease, repair, request)

    async def _attempt(self, lease: CompactionLease, repair: Repair, request: SetAside) -> dict[str, int]:
        pointer = await self._store.tables.table_of_topic(repair.topic)
        if pointer is None:
            raise UnknownTable("the topic has no table, or was deleted")
        made = await self._commits.summary_with(pointer, REPAIR, repair.id)
        if made is not None:
            return {"repaired": int(made[REPAIRED]), "remaining": int(made[REMAINING])}
        files = sorted(await self._commits.branch_files(pointer, QUARANTINE_BRANCH))
        if not files:
            return {"repaired": 0, "remaining": 0}
        job = self._ids.ulid()
        await self._store.jobs.begin_jobs(lease.token, [NewJob(job, pointer.id)])
        try:
            rewritten = await self._rewritten(job, pointer, repair, self._cut(request, files))
            summary = {REPAIR: repair.id, REPAIR_JOB: job} | _counts(rewritten)
            await self._commit(lease, job, pointer, files, rewritten, summary)
        except Unavailable:
            self._unanswered.append(LeftJob(job, pointer.id))
            raise
        except Exception:
            await self._dropped_jobs.drop(LeftJob(job, pointer.id))
            raise
        return {"repaired": int(summary[REPAIRED]), "remaining": int(summary[REMAINING])}

    def _cut(self, request: SetAside, files: Sequence[str]) -> tuple[SetAside, ...]:
        return tuple(
            SetAside(
                files=part,
                keys=tuple(map(self._locations.key_of, part)),
                action=request.action,
                chosen=request.chosen,
                fixes=request.fixes,
            )
            for part in (tuple(files[at : at + FILES_PER_TASK]) for at in range(0, len(files), FILES_PER_TASK))
        )

    async def _rewritten(
        self, job: JobId, pointer: TablePointer, repair: Repair, parts: tuple[SetAside, ...]
    ) -> RewrittenJob:
        folder = self._locations.job_folder(pointer.id, job)
        work = JobWork(job=job, topic=repair.topic, folder=folder, set_aside=parts)
        done = (await self._rewriting.rewrite([work]))[job]
        if done.error is not None:
            raise InvalidRequest(done.error)
        if done.has_more_files:
            counted = {self._locations.key_of(file.path) for result in done.results for file in result.files}
            await self._locations.delete_below(folder, but=counted)
        return done

    async def _commit(
        self,
        lease: CompactionLease,
        job: JobId,
        pointer: TablePointer,
        gone: Sequence[str],
        done: RewrittenJob,
        summary: Mapping[str, str],
    ) -> None:
        files = {
            MAIN_BRANCH: [data_file(file) for file in _main_files(done)],
            QUARANTINE_BRANCH: [data_file(file) for file in _files_set_aside(done)],
        }
        prepared = await self._commits.repair(
            pointer,
            frozenset(gone),
            {branch: own for branch, own in files.items() if own},
            summary=summary,
            evolve=evolution(done.contract),
        )
        commit = JobCommit(job=job, token=lease.token, move=prepared.move, ranges=(), spans=())
        try:
            await self._store.jobs.commit_job(commit)
        except (Unavailable, JobForgotten):
            raise  # it may have been committed
        except LakestreamError:
            await self._commits.abandon(prepared)
            raise
        await self._commits.finish(prepared)


def _request(text: str) -> SetAside:
    """{"action": "retry", "chosen": [[partition, offset], ...], "fixes": [[partition, offset, base64], ...]}"""
    content: dict[str, Any] = json.loads(text)
    chosen = content.get("chosen")
    fixes: dict[RecordPlace, bytes] = {
        (partition, offset): base64.b64decode(value) for partition, offset, value in content.get("fixes", ())
    }
    return SetAside(
        files=(),
        keys=(),
        action=RepairAction(content["action"]),
        chosen=None if chosen is None else frozenset((partition, offset) for partition, offset in chosen),
        fixes=fixes,
    )


def _counts(done: RewrittenJob) -> dict[str, str]:
    return {REPAIRED: str(_rows(_main_files(done))), REMAINING: str(_rows(_files_set_aside(done)))}


def _main_files(done: RewrittenJob) -> list[FileDescriptor]:
    return [result.file for result in done.results if result.file is not None]


def _files_set_aside(done: RewrittenJob) -> list[FileDescriptor]:
    return [result.quarantine_file for result in done.results if result.quarantine_file is not None]


def _rows(files: Sequence[FileDescriptor]) -> int:
    return sum(file.record_count for file in files)
