"""Deletes data files and ledgers that no snapshot reaches any more, and that a crash left behind.

    files of committed jobs, a day old -> not reached by any snapshot of their table -> deleted

Expiry deletes the files it frees once the table has moved on, and an abandoned worker may write after its job was
committed. If the process dies in between, this sweep finds the files. It inspects every table once a day if it has
changed, which takes a listing and reading all of its manifests. If there are more tables than a day has turns for, the
one with the oldest inspection comes first. Files of the last day's jobs are left alone: a job may be under way.
"""

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.catalog.topic.topic_commits import TopicCommits
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import what_went_wrong
from lakestream.model.table import TableId, TableKind
from lakestream.world.clock import Clock
from lakestream.world.ids import ulid_ms

log = structlog.get_logger(__name__)

DAY_SECONDS = 86_400.0
NEVER = -DAY_SECONDS
"""A table that was never inspected goes first in the queue."""
TABLES_AT_ONCE = 5
SWEPT_KINDS = (TableKind.TOPIC, TableKind.KEPT)
"""Only we write to the folders of these tables. Next to an ordinary table, older versions may want their files."""


class OrphanData:
    def __init__(self, store: MetadataStore, locations: TableObjects, commits: TopicCommits, clock: Clock) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._clock = clock
        self._looked_at: dict[TableId, float] = {}
        self._settled: dict[TableId, str] = {}
        """The pointer of each table when all of its jobs were old enough to inspect. Until it moves, nothing is new."""

    async def sweep(self) -> None:
        """Inspect some of the topics' tables whose turn it is."""
        now = self._clock.monotonic()
        tables = await self._store.tables.table_ids([TableKind.TOPIC])
        self._looked_at = {table: self._looked_at.get(table, NEVER) for table in tables}
        self._settled = {table: self._settled[table] for table in tables if table in self._settled}
        due = [table for table in tables if now - self._looked_at[table] >= DAY_SECONDS]
        turns = TABLES_AT_ONCE
        for table in sorted(due, key=self._looked_at.__getitem__):
            if not turns:
                break
            self._looked_at[table] = now
            try:
                turns -= await self._look_at(table)
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one table, the others have their turn
                log.warning(
                    "files that a table left could not be looked for", table=table, error=what_went_wrong(error)
                )
                turns -= 1

    async def _look_at(self, table: TableId) -> bool:
        """Returns False if there was no need to."""
        pointer = await self._store.tables.table_with_id(table)
        if pointer is None or self._settled.get(table) == pointer.metadata_location:
            return False
        settled_at = await self.clear(table, before_ms=self._clock.wall_ms() - int(DAY_SECONDS * 1000))
        if settled_at is not None:
            self._settled[table] = settled_at
        return True

    async def clear(self, table: TableId, *, before_ms: int | None = None) -> str | None:
        """Delete the unreachable files of jobs begun before `before_ms`, or of all jobs if none can be under way.

        Returns the table's pointer if there are no younger jobs. Raises DamagedTable."""
        # List first: a commit in the meantime is then found to refer to its files.
        there = [
            (location, job)
            for location in await self._locations.list_below(self._locations.log_folder(table))
            if (job := self._locations.job_of(location)) is not None
        ]
        pointer = await self._store.tables.table_with_id(table)
        if pointer is None or pointer.kind not in SWEPT_KINDS:
            return None
        listed = [location for location, job in there if before_ms is None or ulid_ms(job) < before_ms]
        if left := await self._commits.unreached(listed, pointer) if listed else []:
            log.info("files that no snapshot reaches are deleted", table=table, files=len(left))
            await self._locations.delete(left)
        return pointer.metadata_location if len(listed) == len(there) else None
