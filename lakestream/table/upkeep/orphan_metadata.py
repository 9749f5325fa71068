"""Deletes metadata files, manifests and manifest lists that no table refers to, left by commits that crashed.

    a few tables at a time -> list what commits wrote -> read the table's pointer -> delete what can never be needed
                           -> what waits for a commit past the grace -> the table passes that version, and it goes too
    kept after its topic   -> the same, and what its jobs left -> nobody has changed it for a grace -> an ordinary table

Tables take turns, so a sweep costs the same however many there are. A table that has not moved since its last turn
costs nothing. The sweep never touches the objects of a commit under way: commit_names.py describes how to tell. An idle
table may have such objects for long, if a committer was killed. Age alone is not enough to delete them, since their
writer may only be asleep. Once the table has passed that version, the writer finds that someone else was faster.

A table that outlived its topic is swept until it is an ordinary one: processes that still worked for the topic when it
was deleted may write a moment later. After that the table belongs to its owner, and is left alone.
"""

from collections.abc import Mapping

import structlog

from lakestream.catalog.files.commit_names import is_awaiting, version_of
from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import Conflict, what_went_wrong
from lakestream.model.table import TableId, TableKind, TablePointer
from lakestream.table.upkeep.orphan_data import SWEPT_KINDS, OrphanData
from lakestream.world.clock import Clock

log = structlog.get_logger(__name__)

TABLES_AT_ONCE = 20
"""A table has some hundred manifest lists at most; most of them are in memory."""


class OrphanMetadata:
    def __init__(
        self,
        store: MetadataStore,
        locations: TableObjects,
        commits: TopicCommits,
        orphan_data: OrphanData,
        clock: Clock,
        *,
        grace_ms: int,
    ) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._orphan_data = orphan_data
        self._clock = clock
        self._grace_ms = grace_ms
        self._turns: list[TableId] = []
        """The tables that are still to be swept before the next cycle begins."""
        self._seen: dict[TableId, str] = {}
        """The pointer of each topic's table at its last sweep, if no object waited for a commit."""

    async def sweep(self) -> None:
        """Sweep the tables whose turn it is."""
        if not self._turns:
            self._turns = await self._store.tables.table_ids(SWEPT_KINDS)
            self._seen = {table: self._seen[table] for table in self._turns if table in self._seen}
        looked_at = 0
        while self._turns and looked_at < TABLES_AT_ONCE:
            table = self._turns.pop(0)
            try:
                looked_at += await self._look_at(table)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one table, the others have their turn
                log.warning("leftovers of a table could not be looked for", table=table, error=what_went_wrong(error))
                looked_at += 1

    async def _look_at(self, table: TableId) -> bool:
        """Returns False if there was no need to."""
        pointer = await self._store.tables.table_with_id(table)
        if pointer is None or (pointer.kind is TableKind.TOPIC and self._seen.get(table) == pointer.metadata_location):
            return False
        # List first: a commit in the meantime is then found to refer to its files.
        listed = await self._locations.written_below(self._locations.commits_folder(table))
        pointer = await self._store.tables.table_with_id(table)
        if pointer is None or pointer.kind not in SWEPT_KINDS:
            return True
        await self._clear(listed, pointer)
        version = version_of(pointer.metadata_location)
        awaiting = [written_ms for location, written_ms in listed.items() if is_awaiting(location, version)]
        if awaiting:
            if max(awaiting) <= self._clock.wall_ms() - self._grace_ms:
                await self._pass_version(listed, pointer)
        elif pointer.kind is TableKind.KEPT:
            await self._let_go(table)
        else:
            self._seen[table] = pointer.metadata_location
        return True

    async def _clear(self, listed: Mapping[str, int], pointer: TablePointer) -> None:
        leftovers = await self._commits.leftovers(list(listed), pointer)
        if leftovers:
            log.info("files of commits that were never made are deleted", table=pointer.id, files=len(leftovers))
            await self._locations.delete(leftovers)

    async def _pass_version(self, listed: Mapping[str, int], pointer: TablePointer) -> None:
        prepared = await self._commits.pass_version(pointer)
        try:
            await self._store.tables.move_tables([prepared.move])
        except Conflict:
            await self._commits.abandon(prepared)  # someone has committed: the next sweep begins from there
            return
        await self._commits.finish(prepared)
        await self._clear(listed, prepared.move.pointer)

    async def _let_go(self, table: TableId) -> None:
        """Jobs of a deleted topic can no longer be committed, so every object that no snapshot reaches is left over."""
        await self._orphan_data.clear(table)
        if await self._store.tables.make_ordinary(table, self._grace_ms):
            log.info("a table that outlived its topic is an ordinary one now", table=table)
