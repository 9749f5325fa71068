"""How rows that engines append to a topic's table become records: the encoding, and the demands on their files."""

import asyncio
from collections.abc import Sequence

from lakestream.catalog.spec.values import Metadata, by_id
from lakestream.catalog.strangers.appended_rows import FoundFile
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_iceberg import columns_of
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.of_files import lacks_ids, unreadable_column
from lakestream.contract.topic.topic_contract import CONTRACT_PROPERTY, TopicContract
from lakestream.contract.values.composing import encoding_text
from lakestream.model.errors import ObjectMissing
from lakestream.model.table_errors import InvalidTableChange
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.parquet_footer import FileEnds, parquet_metadata

KEY = "lakestream.key"
"""A table property, set by CREATE TABLE: the column whose values are the keys of inserted rows."""
FOOTER_BYTES = 16 * 1024
READS_MAX = 16
"""Footers that are read at once."""
FILES_AT_ONCE = 1_000
"""Files that wait for their turn to be read."""


class InsertedRows:
    """The RowsAsRecords of the gateway."""

    def __init__(self, objects: FileEnds) -> None:
        self._objects = objects
        self._reads = asyncio.Semaphore(READS_MAX)

    def encoding(self, metadata: Metadata) -> str:
        properties = metadata.get("properties") or {}
        try:
            return encoding_text(TopicContract.from_text(properties[CONTRACT_PROPERTY]), properties.get(KEY))
        except CannotFollow as error:
            raise InvalidTableChange(str(error)) from None

    async def check(self, metadata: Metadata, files: Sequence[FoundFile]) -> None:
        columns = _columns(metadata)
        for at in range(0, len(files), FILES_AT_ONCE):
            await asyncio.gather(*(self._check(columns, file) for file in files[at : at + FILES_AT_ONCE]))

    async def _check(self, columns: Sequence[Column], file: FoundFile) -> None:
        async with self._reads:
            try:
                footer = await parquet_metadata(self._objects, file.path, FOOTER_BYTES)
            except MalformedTableFile as error:
                raise InvalidTableChange(str(error)) from None
            except ObjectMissing:
                raise InvalidTableChange(f"{file.path} does not exist: write it before the commit") from None
        if footer.num_rows != file.rows:
            raise InvalidTableChange(f"{file.path} has {footer.num_rows} rows, and {file.rows} by its manifest")
        fields = list(footer.schema.to_arrow_schema())
        if (misfit := unreadable_column(columns, fields)) is not None:
            raise InvalidTableChange(f"{file.path} cannot be read as the table: {misfit}")
        if lacks_ids(fields):
            raise InvalidTableChange(
                f"{file.path} has columns without field ids, so its rows cannot become records: write it with an "
                "Iceberg writer, or INSERT its rows"
            )


def _columns(metadata: Metadata) -> Sequence[Column]:
    """Those of the contract, which may be more than the table shows; of the schema while there is no contract yet."""
    text = (metadata.get("properties") or {}).get(CONTRACT_PROPERTY)
    if text is not None:
        return TopicContract.from_text(text).layout.columns
    schema = by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {"fields": []}
    return columns_of(schema["fields"])
