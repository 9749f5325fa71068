"""Deletes the files of tables that went with their topics (`lakestream.table.on-topic-delete=drop`), after a grace.

    topic deleted -> its table has no name any more -> (grace: readers, jobs finish) -> files deleted -> row forgotten

The row goes last: after a crash in between, the next pass deletes the rest.
"""

from contextlib import suppress

import structlog

from lakestream.catalog.files.locations import TableObjects
from lakestream.metadata.store import MetadataStore
from lakestream.model.errors import LakestreamError
from lakestream.model.table import TableId
from lakestream.model.table_errors import UnknownTable
from lakestream.table.metrics import PipelineMetrics

log = structlog.get_logger(__name__)

TABLES_AT_ONCE = 100


class DroppedTables:
    def __init__(
        self, store: MetadataStore, locations: TableObjects, metrics: PipelineMetrics, *, grace_ms: int
    ) -> None:
        self._store = store
        self._locations = locations
        self._metrics = metrics
        self._grace_ms = grace_ms

    async def clear(self) -> None:
        for table in await self._store.tables.dropped_tables(self._grace_ms, TABLES_AT_ONCE):
            try:
                await self._delete(table)
            except LakestreamError as error:
                log.warning("files of a dropped table could not be deleted yet", table=table, error=str(error))

    async def _delete(self, table: TableId) -> None:
        folders = (self._locations.table_location(table), self._locations.log_folder(table))
        files = sum([await self._locations.delete_below(folder) for folder in folders])
        with suppress(UnknownTable):  # another pipeline was as far
            await self._store.tables.drop_table(table)
        self._metrics.table_dropped()
        log.info("a table went with its topic", table=table, files=files)
