"""Map locations of table files (`file:///data/tables/...`) to keys of the object store.

    location  file:///data/objects/tables/<uuid>/metadata/00001-....metadata.json
    key                            tables/<uuid>/metadata/00001-....metadata.json

All files of tables lie below `tables/`. A location elsewhere is refused, since it could name the log's own objects or a
place that only one machine sees. A table's own folder is named by its uuid, so a table that is dropped and made again
under its old name shares nothing with it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from lakestream.model.errors import ObjectExists, ObjectMissing
from lakestream.model.job import JobId
from lakestream.model.table import TableId
from lakestream.model.table_errors import DamagedTable, InvalidLocation
from lakestream.world.ids import is_ulid
from lakestream.world.objects.keys import key_problem
from lakestream.world.objects.store import Buffer, ObjectStore

TABLES_FOLDER = "tables"
LOG_FOLDER_END = "-log"
_FOLDER_MAKER = "made-and-deleted"
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SAME_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "az"}
"""Names that engines use for the schemes that we know."""


class TableObjects:
    """Access to the object store by locations."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._root = _root_of(objects.url)

    def table_location(self, table: TableId) -> str:
        """The folder of a new table."""
        return f"{self._root}/{TABLES_FOLDER}/{table}"

    def log_folder(self, table: TableId) -> str:
        """The folder of a topic's own files: next to the table's folder, not in it. Engines that remove orphans list
        the table's folder, and would remove the files of a running commit."""
        return f"{self.table_location(table)}{LOG_FOLDER_END}"

    def commits_folder(self, table: TableId) -> str:
        """The folder of a topic table's metadata files, manifests and manifest lists: commit_names.py."""
        return f"{self.log_folder(table)}/metadata"

    def job_folder(self, table: TableId, job: JobId) -> str:
        """The folder in which a job of compaction writes data files and their ledger. Nobody else writes there."""
        return f"{self.log_folder(table)}/{job}"

    def job_of(self, location: str) -> JobId | None:
        """The job whose folder contains the location, if any."""
        _, owner, job, *rest = [*self.key_of(location).split("/"), "", ""]
        return job if owner.endswith(LOG_FOLDER_END) and is_ulid(job) and any(rest) else None

    def key_of(self, location: str) -> str:
        """Raises InvalidLocation for a location outside the tables' folder."""
        normal = plain_location(location)
        prefix = f"{self._root}/{TABLES_FOLDER}/"
        key = normal.removeprefix(f"{self._root}/")
        if not normal.startswith(prefix) or key_problem(key) is not None:
            raise InvalidLocation(
                f"'{location}' is no place for a table: leave the location out, or choose one below {prefix}"
            )
        return key

    def is_below(self, location: str, folders: Iterable[str]) -> bool:
        """Whether it lies in one of the folders, in any spelling: Spark writes `file:/data` for `file:///data`."""
        try:
            return self.key_of(location).startswith(tuple(f"{self.key_of(folder)}/" for folder in folders))
        except InvalidLocation:
            return False

    def check_folder(self, location: str, table: TableId) -> None:
        """Raises InvalidLocation if a table may not live here: outside the tables' folder, or in another table's."""
        owner = self.key_of(location).split("/")[1].removesuffix(LOG_FOLDER_END)
        if _UUID.fullmatch(owner) and owner != table:
            raise InvalidLocation(
                f"'{location}' lies in the folder of another table: leave the location out, or choose one of your own"
            )

    def may_hold(self, location: str, table: TableId) -> bool:
        """Whether a table's files may be there: see check_folder."""
        try:
            self.check_folder(location, table)
        except InvalidLocation:
            return False
        return True

    async def read(self, location: str) -> Buffer:
        """Raises DamagedTable if there is no such object."""
        try:
            return await self._objects.get(self.key_of(location))
        except ObjectMissing as error:
            raise DamagedTable(
                f"{location} does not exist, though the table refers to it: restore it from a backup of the bucket"
            ) from error

    async def write(self, location: str, *parts: Buffer) -> None:
        """Raises ObjectExists: objects are never overwritten."""
        await self._objects.put(self.key_of(location), parts)

    async def make_folder(self, location: str) -> None:
        """Make the folder on a file store: some engines (DuckDB) write there before the table exists and expect it."""
        if not self._objects.is_remote:
            key = f"{self.key_of(location)}/{_FOLDER_MAKER}"
            with suppress(ObjectExists):  # left by a process that was killed between the two steps
                await self._objects.put(key, [b""])
            await self._objects.delete([key])

    async def list_below(self, folder: str) -> list[str]:
        """Locations of all objects below."""
        return list(await self.written_below(folder))

    async def written_below(self, folder: str) -> dict[str, int]:
        """Locations of all objects below, each with the time of its writing in milliseconds."""
        prefix = self.key_of(folder) + "/"
        return {f"{folder}/{i.key.removeprefix(prefix)}": i.modified_ms async for i in self._objects.list(prefix)}

    async def delete(self, locations: Sequence[str]) -> None:
        """A missing object is no error. A job's files are deleted long after its end, when nobody uses its folder."""
        keys = [self.key_of(location) for location in locations]
        of_jobs = {self.key_of(each).rpartition("/")[0] for each in locations if self.job_of(each) is not None}
        await self._objects.delete(keys, unused_folders=sorted(of_jobs))

    async def delete_below(self, folder: str, *, but: Collection[str] = ()) -> int:
        """Delete all objects below a location that nobody writes to any more, except some keys. Returns how many
        objects there were."""
        prefix = self.key_of(folder)
        keys = [info.key async for info in self._objects.list(f"{prefix}/") if info.key not in but]
        await self._objects.delete(keys, unused_folders=() if but else (prefix,))
        return len(keys)


def _root_of(url: str) -> str:
    """The root in the spelling of engines: a path in a location is not percent-encoded."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        return f"file://{unquote(parts.path).rstrip('/')}"
    return url.rstrip("/") if parts.netloc else f"{parts.scheme}://"


def plain_location(location: str) -> str:
    """The one spelling of all equivalent locations."""
    scheme, separator, rest = location.partition(":")
    if not separator:
        return location
    scheme = _SAME_SCHEMES.get(scheme, scheme)
    if scheme == "file":
        return "file:///" + rest.lstrip("/")
    return f"{scheme}:{rest}"
