"""How rows that engines append to a topic's table become records: the encoding, and the demands on their files."""

import asyncio
from collections.abc import Sequence

from lakestream.catalog.spec.values import Metadata
from lakestream.catalog.strangers.appended_rows import FoundFile
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.of_files import lacks_ids
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

    async def check(self, files: Sequence[FoundFile]) -> None:
        await asyncio.gather(*map(self._check, files))

    async def _check(self, file: FoundFile) -> None:
        async with self._reads:
            try:
                footer = await parquet_metadata(self._objects, file.path, FOOTER_BYTES)
            except MalformedTableFile as error:
                raise InvalidTableChange(str(error)) from None
            except ObjectMissing:
                raise InvalidTableChange(f"{file.path} does not exist: write it before the commit") from None
        if footer.num_rows != file.rows:
            raise InvalidTableChange(f"{file.path} has {footer.num_rows} rows, and {file.rows} by its manifest")
        if lacks_ids(footer.schema.to_arrow_schema()):
            raise InvalidTableChange(
                f"{file.path} has columns without field ids, so its rows cannot become records: write it with an "
                "Iceberg writer, or INSERT its rows"
            )
