"""Checks in the object store itself that every object exists that a table refers to."""

import asyncio
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from lakestream.catalog.files.locations import TABLES_FOLDER, TableObjects
from lakestream.model.errors import LakestreamError, ObjectMissing
from lakestream.model.table_errors import DamagedTable
from lakestream.storage.tablefile.format.footer import FileFooter, ending_bytes, parse_footer
from lakestream.storage.tablefile.read.loading import TAIL_BYTES
from lakestream.world.chance import SystemChance
from lakestream.world.clock import SystemClock
from lakestream.world.ids import Ids
from lakestream.world.objects.open import open_objects
from lakestream.world.objects.store import ObjectStore
from lakestream.world.threads import ThreadPool

LOOKS_AT_ONCE = 32
_THREADS = 8


def problems_of_objects(
    table_location: str, options: Mapping[str, str], expected: Mapping[str, int | None]
) -> list[str]:
    """The objects that are missing or have another size than expected (None: any size)."""
    sizes = asyncio.run(_sizes(table_location, options, list(expected)))
    found = []
    for location, size in expected.items():
        actual = sizes[location]
        if actual is None:
            found.append(f"{location} does not exist, though the table refers to it: restore it from a backup")
        elif size is not None and actual != size:
            found.append(f"{location} has {actual} bytes, but {size} by its manifest: restore it from a backup")
    return found


def read_objects(table_location: str, options: Mapping[str, str], locations: Sequence[str]) -> dict[str, bytes | None]:
    """The content of small objects. None if an object does not exist."""
    return asyncio.run(_contents(table_location, options, locations))


def read_rules(table_location: str, options: Mapping[str, str], files: Sequence[str]) -> dict[str, str]:
    """The rules for reading values, by data file that has typed columns. Raises MalformedTableFile."""
    found = asyncio.run(_footers(table_location, options, files))
    return {footer.path: footer.rules for footer in found if footer.rules is not None}


async def _footers(table_location: str, options: Mapping[str, str], files: Sequence[str]) -> list[FileFooter]:
    async with _Opened(table_location, options) as objects:
        tables, places = TableObjects(objects), asyncio.Semaphore(LOOKS_AT_ONCE)

        async def read(file: str) -> FileFooter:
            async with places:
                key = tables.key_of(file)
                tail, size = await objects.get_tail(key, TAIL_BYTES)
                if (length := ending_bytes(file, tail, size)) > len(tail):
                    tail = await objects.get_range(key, size - length, length)
                return parse_footer(file, tail, size)

        return list(await asyncio.gather(*map(read, files)))


async def _sizes(table_location: str, options: Mapping[str, str], locations: list[str]) -> dict[str, int | None]:
    async def size(objects: ObjectStore, location: str) -> int | None:
        try:
            return (await objects.get_tail(TableObjects(objects).key_of(location), 1))[1]
        except ObjectMissing:
            return None

    async with _Opened(table_location, options) as objects:
        places = asyncio.Semaphore(LOOKS_AT_ONCE)

        async def look(location: str) -> int | None:
            async with places:
                return await size(objects, location)

        return dict(zip(locations, await asyncio.gather(*map(look, locations)), strict=True))


async def _contents(
    table_location: str, options: Mapping[str, str], locations: Sequence[str]
) -> dict[str, bytes | None]:
    async with _Opened(table_location, options) as objects:
        tables, places = TableObjects(objects), asyncio.Semaphore(LOOKS_AT_ONCE)

        async def read(location: str) -> bytes | None:
            async with places:
                try:
                    return bytes(await tables.read(location))
                except DamagedTable:
                    return None

        return dict(zip(locations, await asyncio.gather(*map(read, locations)), strict=True))


class _Opened:
    """The object store of a table's location, for reading."""

    def __init__(self, table_location: str, options: Mapping[str, str]) -> None:
        self._url = store_url(table_location)
        self._options = options
        self._threads = ThreadPool(_THREADS, "objects")
        self._objects: ObjectStore

    async def __aenter__(self) -> ObjectStore:
        clock = SystemClock()
        self._objects = await open_objects(
            self._url,
            clock=clock,
            ids=Ids(clock, SystemChance()),
            threads=self._threads,
            options=self._options,
            probe=False,
        )
        return self._objects

    async def __aexit__(self, *_: object) -> None:
        await self._objects.close()
        self._threads.close()


class _NoStore(LakestreamError):
    """A table's location is not one of ours."""


def store_url(table_location: str) -> str:
    """file:///data/objects/tables/<uuid> -> file:///data/objects"""
    root, found, _ = table_location.rpartition(f"/{TABLES_FOLDER}/")
    if not found:
        raise _NoStore(f"the table's location {table_location} has no folder '{TABLES_FOLDER}': is this Lakestream's?")
    scheme, separator, rest = root.partition("://")
    return f"{scheme}{separator}{quote(rest)}" if scheme == "file" else root
