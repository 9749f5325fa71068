"""Loads parts of table files: footers (cached), and row groups as records, as batches or as times.

One GET reads a footer, and the whole of a small file with it; one GET reads the needed columns of a row group. Parquet
is parsed in threads.
"""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Protocol

import pyarrow as pa

from lakestream.storage.records.encode import EncodedBatch
from lakestream.storage.records.header import Bytes
from lakestream.storage.tablefile.format.footer import FileFooter, ending_bytes, parse_footer
from lakestream.storage.tablefile.format.typed import NoTypedValues, Restorer
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.from_columns import Times, columns_of_group, rows_of_group, times_of_group
from lakestream.storage.tablefile.read.group_bytes import TIME_COLUMNS, GroupBytes, bytes_of_group, record_columns
from lakestream.storage.tablefile.read.page_by_page import batches_of_group
from lakestream.storage.tablefile.read.shared_cache import SharedCache
from lakestream.world.objects.store import Buffer
from lakestream.world.tasks import Tasks
from lakestream.world.threads import Threads

TAIL_BYTES = 128 * 1024
"""The size of the first GET of a file: enough for the footer of a hundred row groups, or the whole of a small file."""
LOADS_MAX = 8
"""Row groups loading at once, for all readers together: each takes its compressed and its decoded size in memory."""


class TableFileObjects(Protocol):
    """Objects, addressed by their files' paths in the table's metadata."""

    async def get_range(self, key: str, at: int, length: int) -> Buffer: ...

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]: ...


class TableReadMetrics(Protocol):
    def table_file_read(self, *, bytes: int) -> None: ...


class TableFiles:
    def __init__(
        self,
        objects: TableFileObjects,
        threads: Threads,
        tasks: Tasks,
        metrics: TableReadMetrics,
        *,
        footer_bytes_max: int,
        restorer: Restorer | None = None,
    ) -> None:
        """`restorer` reads values from typed columns; without one only files of raw topics can be read."""
        self._restorer = restorer or NoTypedValues()
        self._objects = objects
        self._threads = threads
        self._metrics = metrics
        self._loads = asyncio.Semaphore(LOADS_MAX)
        self._footers: SharedCache[str, FileFooter] = SharedCache(
            footer_bytes_max, lambda footer: footer.held_bytes, tasks
        )

    async def footers(self, paths: Sequence[str]) -> list[FileFooter]:
        return list(
            await asyncio.gather(*(self._footers.get(path, partial(self._load_footer, path)) for path in paths))
        )

    async def rows(self, footer: FileFooter, group: int) -> pa.RecordBatch:
        async with self._loads:
            wanted = bytes_of_group(footer, group, record_columns(footer))
            data = await self._get(footer, wanted)
            return await self._threads.run(rows_of_group, footer, wanted, data, self._restorer)

    async def columns(self, footer: FileFooter, group: int, columns: Sequence[str], *, restore: bool) -> pa.RecordBatch:
        """Some columns of a row group, `__offset` among them. With `restore`, which needs all columns that make up
        records, `__value` has the bytes of every value."""
        async with self._loads:
            wanted = bytes_of_group(footer, group, columns)
            data = await self._get(footer, wanted)
            work = partial(columns_of_group, footer, wanted, data, self._restorer, restore=restore)
            return await self._threads.run(work)

    async def batches(self, footer: FileFooter, group: int, encoding: Encoding) -> list[EncodedBatch]:
        """The records of a row group that holds one partition alone, as batches to send."""
        async with self._loads:
            wanted = bytes_of_group(footer, group, record_columns(footer))
            data = await self._get(footer, wanted)
            return await self._threads.run(batches_of_group, footer, wanted, data, self._restorer, encoding)

    async def times(self, footer: FileFooter, group: int) -> Times:
        async with self._loads:
            wanted = bytes_of_group(footer, group, TIME_COLUMNS)
            return await self._threads.run(times_of_group, footer, wanted, await self._get(footer, wanted))

    async def _load_footer(self, path: str) -> FileFooter:
        tail, size = await self._objects.get_tail(path, TAIL_BYTES)
        length = ending_bytes(path, tail, size)
        if length > len(tail):
            tail = await self._objects.get_range(path, size - length, length)
        self._metrics.table_file_read(bytes=len(tail))
        return await self._threads.run(parse_footer, path, tail, size)

    async def _get(self, footer: FileFooter, wanted: GroupBytes) -> Bytes:
        if footer.whole is not None:
            return memoryview(footer.whole)[wanted.at : wanted.at + wanted.length]
        data = await self._objects.get_range(footer.path, wanted.at, wanted.length)
        self._metrics.table_file_read(bytes=len(data))
        return data
