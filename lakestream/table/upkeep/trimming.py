"""Removes whole files from tables: from the log once it keeps none of their records, from `main` by the table's rule.

    trimmed topics   -> files of `log` without a living record, and copies of such records (copies.py)
    table's own rule -> files of `main` that are too old (aged_files.py); without one, those that leave `log`
                     -> out of their branches, in one commit
                     -> snapshots from before that, after a grace -> forgotten; what only they reached is deleted

Retention and DeleteRecords only move the start of a partition (metadata). This follows step by step. Each step can be
repeated, and none needs another to have finished: the table and the index show the remaining work. A file whose last
place is gone never gets another, so even a pipeline that has lost its lease removes nothing too early.
"""

from collections.abc import Mapping
from typing import NamedTuple

import structlog

from lakestream.catalog.files.locations import plain_location
from lakestream.catalog.topic.topic_commits import PreparedCommit, TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.configs.table_retention import TableRetention
from lakestream.model.configs.topic_config import typed_topic_config
from lakestream.model.errors import Conflict, what_went_wrong
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, QUARANTINE_BRANCH, TablePointer
from lakestream.model.topic import TopicId
from lakestream.table.metrics import PipelineMetrics
from lakestream.table.upkeep.aged_files import AgedFiles
from lakestream.table.upkeep.copies import Copies
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

FILES_AT_ONCE = 5_000
"""Files removed in one commit. The next pass goes on."""


class TrimmedTable(NamedTuple):
    """What decides which files a topic's table keeps."""

    topic: TopicId
    offsets: int
    """Below the starts of the topic's partitions, in total."""
    retention: TableRetention


class Settled(NamedTuple):
    """A table in which nothing was left to do, and what it was like then."""

    table: TrimmedTable
    location: str
    due_ms: int | None
    """The time when its next file is too old."""


class Going(NamedTuple):
    """The files that leave, by branch. All branches are there."""

    files: Mapping[str, frozenset[str]]
    due_ms: int | None

    @property
    def number(self) -> int:
        return len(frozenset().union(*map(_plain, self.files.values())))


class Trimming:
    def __init__(
        self,
        store: MetadataStore,
        commits: TopicCommits,
        copies: Copies,
        aged: AgedFiles,
        clock: Clock,
        metrics: PipelineMetrics,
        *,
        grace_ms: int,
    ) -> None:
        self._store = store
        self._commits = commits
        self._copies = copies
        self._aged = aged
        self._clock = clock
        self._metrics = metrics
        self._grace_ms = grace_ms
        self._settled: dict[TopicId, Settled] = {}

    async def trim(self) -> None:
        """One pass over the topics that have lost records since the last one, or whose tables have a rule of their
        own."""
        tables = await self._tables()
        self._settled = {one.topic: self._settled[one.topic] for one in tables if one.topic in self._settled}
        for one in tables:
            try:
                await self._trim(one)
            except Exception as error:  # noqa: BLE001 - a damaged table holds up no other; the next pass tries again
                log.warning("a table could not be trimmed", topic=one.topic.hex(), error=what_went_wrong(error))

    async def _tables(self) -> list[TrimmedTable]:
        trimmed = {one.topic: one.offsets for one in await self._store.jobs.trimmed_topics()}
        own = {
            topic.id: typed_topic_config(topic.config).table_retention for topic in (await self._store.topics()).topics
        }
        return [
            TrimmedTable(topic, trimmed.get(topic, 0), retention)
            for topic, retention in sorted(own.items())
            if topic in trimmed or retention.ms is not None
        ]

    async def _trim(self, table: TrimmedTable) -> None:
        pointer = await self._store.tables.table_of_topic(table.topic)
        now_ms = await self._store.now_ms()
        if pointer is None or self._rests(table, pointer, now_ms):
            return
        going = await self._going(table, pointer, now_ms)
        if going.number and not await self._remove(pointer, going):
            return
        pointer = await self._store.tables.table_of_topic(table.topic)
        if pointer is not None and not await self._forget(pointer) and going.number <= FILES_AT_ONCE:
            self._settled[table.topic] = Settled(table, pointer.metadata_location, going.due_ms)

    def _rests(self, table: TrimmedTable, pointer: TablePointer, now_ms: int) -> bool:
        settled = self._settled.get(table.topic)
        if settled is None or (settled.table, settled.location) != (table, pointer.metadata_location):
            return False
        return settled.due_ms is None or now_ms < settled.due_ms

    async def _going(self, table: TrimmedTable, pointer: TablePointer, now_ms: int) -> Going:
        from_log: frozenset[str] = frozenset()
        from_main: frozenset[str] = frozenset()
        set_aside: frozenset[str] = frozenset()
        due_ms: int | None = None
        if table.offsets:
            # Files first, places afterwards: files committed in between are in neither.
            files = await self._commits.branch_files(pointer, LOG_BRANCH)
            from_log = files - await self._store.jobs.living_files(table.topic)
            set_aside = await self._copies.of_quarantine(pointer, table.topic)
            if table.retention.follows_log:
                shared = _plain(from_log)
                on_main = await self._commits.branch_files(pointer, MAIN_BRANCH)
                from_main = frozenset(file for file in on_main if plain_location(file) in shared)
                from_main |= await self._copies.of_main(pointer, table.topic, files)
        if (kept_ms := table.retention.ms) is not None:
            aged = await self._aged.of_main(pointer, table.topic, before_ms=now_ms - kept_ms)
            from_main, due_ms = aged.gone, None if aged.next_ms is None else aged.next_ms + kept_ms + 1
        return Going({LOG_BRANCH: from_log, MAIN_BRANCH: from_main, QUARANTINE_BRANCH: set_aside}, due_ms)

    async def _remove(self, pointer: TablePointer, going: Going) -> bool:
        some = frozenset(sorted(_plain(frozenset().union(*going.files.values())))[:FILES_AT_ONCE])
        now = {
            branch: frozenset(file for file in files if plain_location(file) in some)
            for branch, files in going.files.items()
        }
        prepared = await self._commits.remove(pointer, now)
        if prepared is None or not await self._move(prepared):
            return False
        self._metrics.files_trimmed(len(some))
        counts = {f"from_{branch}": len(files) for branch, files in now.items()}
        log.info("files left a table", table=pointer.id, **counts)
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


def _plain(files: frozenset[str]) -> frozenset[str]:
    return frozenset(map(plain_location, files))
