"""Reads a span of table files as rows, with the columns that a reader wants: for readers that want no batches.

    footers -> windows (window.py) -> one row group of each file -> shaped -> rows of the partition, in offset order

Rows that SQL does not see lie in the span's second file, so a window has rows of one file or of two.
"""

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from lakestream.model.errors import Corrupt
from lakestream.model.place import FileSpan
from lakestream.storage.tablefile.format.columns import OFFSET
from lakestream.storage.tablefile.format.footer import FileFooter, PartitionExtent
from lakestream.storage.tablefile.read.loading import TableFiles
from lakestream.storage.tablefile.read.window import Window, window_at


class UnreadableBatch(Corrupt):
    """A batch of the log cannot be read as records. Start behind it, or restore the object that held it."""


class WantedColumns(NamedTuple):
    """What a reader wants of a file."""

    names: tuple[str, ...]
    restore: bool
    """Whether `__value` must have the bytes of every value."""


class RowShape(Protocol):
    """The columns that a reader wants. Files of one topic may differ in theirs."""

    def wanted(self, footer: FileFooter) -> WantedColumns:
        """The columns of a file that are needed. `__offset` is one of them."""
        ...

    def shaped(self, footer: FileFooter, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The same rows with the reader's columns: the same for all files, `__offset` among them."""
        ...


class SpanRows:
    def __init__(self, files: TableFiles, shape: RowShape) -> None:
        self._files = files
        self._shape = shape
        self._last: dict[str, tuple[int, pa.RecordBatch]] = {}
        """By file, the row group that was read last: the next window, or partition, may need it again."""

    async def read(self, span: FileSpan, start: int, end: int) -> AsyncIterator[pa.RecordBatch]:
        """The rows with offsets in [start, end), in the order of offsets. Raises UnreadableBatch."""
        self._last = {path: group for path, group in self._last.items() if path in span.files}
        footers = await self._files.footers(span.files)
        at, until = max(start, span.base_offset), min(end, span.last_offset + 1)
        while at < until and (window := window_at(footers, span.partition, at)) is not None:
            found = [await self._rows(window, part.footer, part.extent, at, until) for part in window.parts]
            if (rows := _in_offset_order([one for one in found if one.num_rows])) is not None:
                yield rows
            at = window.until + 1

    async def _rows(
        self, window: Window, footer: FileFooter, extent: PartitionExtent, start: int, end: int
    ) -> pa.RecordBatch:
        after, until = max(window.after, start - 1), min(window.until, end - 1)
        for _, run in extent.runs:
            if run.is_raw and run.base_offset <= until and run.last_offset > after:
                raise unreadable(run.partition, run.base_offset, run.last_offset)
        rows = (await self._group(footer, extent.group)).slice(extent.runs[0].first_row, extent.rows)
        first, last = np.searchsorted(rows.column(OFFSET).to_numpy(), (after, until), side="right").tolist()
        return rows.slice(first, last - first)

    async def _group(self, footer: FileFooter, group: int) -> pa.RecordBatch:
        number, rows = self._last.get(footer.path, (-1, None))
        if number != group:
            names, restore = self._shape.wanted(footer)
            rows = self._shape.shaped(footer, await self._files.columns(footer, group, names, restore=restore))
            self._last[footer.path] = (group, rows)
        return rows


def unreadable(partition: int, base_offset: int, last_offset: int) -> UnreadableBatch:
    return UnreadableBatch(
        f"the batch at offsets {base_offset} to {last_offset} of partition {partition} cannot be read as records. "
        f"Restore the object that held it, or read the partition up to it and from offset {last_offset + 1} on"
    )


def _in_offset_order(parts: Sequence[pa.RecordBatch]) -> pa.RecordBatch | None:
    """The rows of a window's files as one batch."""
    if len(parts) < 2:
        return parts[0] if parts else None
    whole = pa.concat_batches(parts)
    return whole.take(np.argsort(whole.column(OFFSET).to_numpy(), kind="stable"))
