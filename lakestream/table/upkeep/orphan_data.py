"""Data files and ledgers that no snapshot reaches any more, and that nobody deleted: left by a crash, they go.

    files of committed jobs, a day old -> not reached by any snapshot of their table -> deleted

Expiry deletes what it frees once the table has moved on, and a worker that was given up may write after its job was
committed; where the process dies in between, this finds it. Every table is looked at, once a day if it has changed: it
takes a listing, and reading all of its manifests. Where there are more than a day has turns for, the one whose look is
the longest ago comes first. Files of the last day's jobs are left alone: a job may be under way.
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
"""When a table was looked at that was not: its turn has come, before that of all others."""
TABLES_AT_ONCE = 5
SWEPT_KINDS = (TableKind.TOPIC, TableKind.KEPT)
"""Tables beside which only we write. What lies beside an ordinary one may be wanted: its versions can go back."""


class OrphanData:
    def __init__(self, store: MetadataStore, locations: TableObjects, commits: TopicCommits, clock: Clock) -> None:
        self._store = store
        self._locations = locations
        self._commits = commits
        self._clock = clock
        self._looked_at: dict[TableId, float] = {}
        self._settled: dict[TableId, str] = {}
        """Where tables were when all of their jobs were old enough to be looked at: until they move, nothing is new."""

    async def sweep(self) -> None:
        """Look at some of the topics' tables whose turn it is."""
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
        """False: there was no need to."""
        pointer = await self._store.tables.table_with_id(table)
        if pointer is None or self._settled.get(table) == pointer.metadata_location:
            return False
        settled_at = await self.clear(table, before_ms=self._clock.wall_ms() - int(DAY_SECONDS * 1000))
        if settled_at is not None:
            self._settled[table] = settled_at
        return True

    async def clear(self, table: TableId, *, before_ms: int | None = None) -> str | None:
        """Delete what no snapshot reaches of the jobs begun before then, or of all where none can be under way. Returns
        where the table was, if there are no younger jobs. Raises DamagedTable."""
        # Listed first: what is committed meanwhile is then found to be referred to.
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
