"""Removes whole files from tables once all of their records lie below the log's start.

    trimmed topics -> files of `log` without a living record, and copies of such records (copies.py)
                   -> out of `log` and `quarantine`, and of `main` where it still has them
                   -> snapshots from before that, after a grace -> forgotten; what only they reached is deleted

Retention and DeleteRecords only move the start of a partition (metadata). This follows step by step. Each step can be
repeated, and none needs another to have finished: the table and the index show the remaining work. A file whose last
place is gone never gets another, so even a pipeline that has lost its lease removes nothing too early.
"""

import structlog

from lakestream.catalog.commits.summaries import RETENTION
from lakestream.catalog.topic.topic_commits import PreparedCommit, TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Conflict, what_went_wrong
from lakestream.model.job import TrimmedTopic
from lakestream.model.table import TablePointer
from lakestream.model.topic import TopicId
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.upkeep.copies import Copies
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

FILES_AT_ONCE = 5_000
"""Files removed in one commit. The next pass goes on."""


class Trimming:
    def __init__(
        self,
        store: MetadataStore,
        commits: TopicCommits,
        copies: Copies,
        clock: Clock,
        metrics: PipelineMetrics,
        *,
        grace_ms: int,
    ) -> None:
        self._store = store
        self._commits = commits
        self._copies = copies
        self._clock = clock
        self._metrics = metrics
        self._grace_ms = grace_ms
        self._done: dict[TopicId, tuple[int, str]] = {}
        """Each topic's trimmed offsets and table pointer at the time when nothing was left to do."""

    async def trim(self) -> None:
        """One pass over the topics that have lost records since the last one."""
        trimmed = await self._store.jobs.trimmed_topics()
        self._done = {one.topic: self._done[one.topic] for one in trimmed if one.topic in self._done}
        for one in trimmed:
            try:
                await self._trim(one)
            except Exception as error:  # noqa: BLE001 - a damaged table holds up no other; the next pass tries again
                log.warning("a table could not be trimmed", topic=one.topic.hex(), error=what_went_wrong(error))

    async def _trim(self, trimmed: TrimmedTopic) -> None:
        pointer = await self._store.tables.table_of_topic(trimmed.topic)
        if pointer is None or self._done.get(trimmed.topic) == (trimmed.offsets, pointer.metadata_location):
            return
        # Files first, places afterwards: files committed in between are in neither.
        files = await self._commits.log_files(pointer)
        gone = files - await self._store.jobs.living_files(trimmed.topic)
        gone |= await self._copies.let_go(pointer, trimmed.topic, files)
        if gone and not await self._remove(pointer, gone):
            return
        pointer = await self._store.tables.table_of_topic(trimmed.topic)
        if pointer is not None and not await self._forget(pointer) and len(gone) <= FILES_AT_ONCE:
            self._done[trimmed.topic] = (trimmed.offsets, pointer.metadata_location)

    async def _remove(self, pointer: TablePointer, gone: frozenset[str]) -> bool:
        prepared = await self._commits.remove(
            pointer, frozenset(sorted(gone)[:FILES_AT_ONCE]), summary={RETENTION: str(len(gone))}
        )
        if prepared is None or not await self._move(prepared):
            return False
        self._metrics.files_trimmed(min(len(gone), FILES_AT_ONCE))
        log.info("files left the log", table=pointer.id, files=len(gone))
        return True

    async def _forget(self, pointer: TablePointer) -> bool:
        """Expire snapshots whose grace is over. Returns whether there are some to expire, now or later."""
        prepared = await self._commits.expire(pointer, trimmed_before_ms=self._clock.wall_ms() - self._grace_ms)
        if prepared is None:
            return await self._commits.has_trimmed(pointer)
        await self._move(prepared)
        return True

    async def _move(self, prepared: PreparedCommit) -> bool:
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)  # someone else committed; the next pass begins from there
            return False
        await self._commits.finish(prepared)
        return True
