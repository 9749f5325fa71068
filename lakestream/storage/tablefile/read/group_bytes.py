"""Which bytes of a table file hold the records, or the times, of a row group.

    row group | columns side by side |  -> from the first that is needed to the last, in whole blocks (blocks.py)

The footer shows which columns hold nothing (no headers, no keys); they are not read at all.
"""

from collections.abc import Sequence
from typing import NamedTuple

import pyarrow.parquet as pq

from lakestream.storage.tablefile.format.columns import HEADERS, KEY, OFFSET, TIMESTAMP, VALUE
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.footer import FileFooter
from lakestream.storage.tablefile.format.typed import HIDDEN_OF_TYPED
from lakestream.storage.tablefile.write.metrics import starts_at

RECORD_COLUMNS = (OFFSET, TIMESTAMP, KEY, HEADERS, VALUE)
TIME_COLUMNS = (OFFSET, TIMESTAMP)
_MAY_BE_EMPTY = (KEY, HEADERS)


class GroupBytes(NamedTuple):
    """The bytes to get from the file, for some columns of one row group: whole blocks, to be checked."""

    group: int
    columns: tuple[str, ...]
    at: int
    length: int

    def only(self, columns: Sequence[str]) -> "GroupBytes":
        return self._replace(columns=tuple(name for name in self.columns if name in columns))


def record_columns(footer: FileFooter) -> tuple[str, ...]:
    """The columns that make up records. With typed columns, these include the typed and the hidden ones."""
    if footer.rules is None:
        return RECORD_COLUMNS
    return (*footer.typed_columns, *HIDDEN_OF_TYPED, *RECORD_COLUMNS)


def bytes_of_group(footer: FileFooter, group: int, columns: Sequence[str]) -> GroupBytes:
    """The stretch from the first of the columns to the last: they are written side by side. Empty columns are left
    out."""
    parquet = footer.metadata.row_group(group)
    chunks = {at: parquet.column(at) for at, column in enumerate(footer.leaves) if column in columns}
    empty = {column for column in _MAY_BE_EMPTY if column in columns and _is_empty(chunks[footer.leaves.index(column)])}
    wanted = [chunk for at, chunk in chunks.items() if footer.leaves[at] not in empty]
    starts = [starts_at(chunk) for chunk in wanted]
    at = min(starts)
    end = max(start + chunk.total_compressed_size for start, chunk in zip(starts, wanted, strict=True))
    if not 0 <= at < end <= footer.blocks.covered_bytes:
        raise MalformedTableFile(f"table file {footer.path} places row group {group} outside of itself: restore it")
    held = {footer.leaves[at] for at in chunks} - empty
    return GroupBytes(group, tuple(name for name in columns if name in held), *footer.blocks.around(at, end - at))


def _is_empty(chunk: pq.ColumnChunkMetaData) -> bool:
    """Whether the statistics prove that every row has null, or no header, in this column."""
    statistics = chunk.statistics
    return bool(statistics is not None and statistics.has_null_count and statistics.num_values == 0)
