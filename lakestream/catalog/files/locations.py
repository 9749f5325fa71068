"""Map locations of table files (`file:///data/tables/...`) to keys of the object store.

    location  file:///data/objects/tables/<uuid>/metadata/00001-....metadata.json
    key                            tables/<uuid>/metadata/00001-....metadata.json

All files of topics' tables lie below `tables/`, and those of other tables by default. A location elsewhere is refused,
since it could name the log's own objects or a place that only one machine sees, unless it lies below a root that the
settings allow. A table's own folder is named by its uuid, so a table that is dropped and made again under its old name
shares nothing with it.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from lakestream.model.errors import ObjectExists, ObjectMissing
from lakestream.model.job import JobId
from lakestream.model.table import TableId
from lakestream.model.table_errors import InvalidLocation, MissingTableFile
from lakestream.world.ids import is_ulid
from lakestream.world.objects.keys import key_problem
from lakestream.world.objects.store import Buffer, ObjectStore

TABLES_FOLDER = "tables"
LOG_FOLDER_END = "-log"
_FOLDER_MAKER = "made-and-deleted"
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SAME_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfss": "az"}
"""Names that engines use for the schemes that we know."""


class _Place(NamedTuple):
    objects: ObjectStore
    key: str


class TableObjects:
    """Access to the object store by locations."""

    def __init__(self, objects: ObjectStore, *, other_roots: Sequence[ObjectStore] = ()) -> None:
        """`other_roots`: where tables that are no topics' may lie besides, each as a store with that root."""
        self._objects = objects
        self._root = root_of(objects.url)
        self._others = tuple((f"{root_of(other.url)}/", other) for other in other_roots)

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
        return _job_of(self.key_of(location))

    def key_of(self, location: str) -> str:
        """The key in our own store. Raises InvalidLocation for a location outside the tables' folder there."""
        normal = plain_location(location)
        prefix = f"{self._root}/{TABLES_FOLDER}/"
        key = normal.removeprefix(f"{self._root}/")
        if not normal.startswith(prefix) or key_problem(key) is not None:
            roots = " or ".join((prefix, *(root for root, _ in self._others)))
            raise InvalidLocation(
                f"'{location}' is no place for a table: leave the location out, or choose one below {roots}"
            )
        return key

    def _place(self, location: str) -> _Place:
        """Our own store goes first, so that no allowed root opens the way to the log's objects."""
        normal = plain_location(location)
        if not normal.startswith(f"{self._root}/"):
            for root, objects in self._others:
                key = normal.removeprefix(root)
                if normal.startswith(root) and key_problem(key) is None:
                    return _Place(objects, key)
        return _Place(self._objects, self.key_of(location))

    def is_below(self, location: str, folders: Iterable[str]) -> bool:
        """Whether it lies in one of the folders, in any spelling: Spark writes `file:/data` for `file:///data`."""
        try:
            return self.key_of(location).startswith(tuple(f"{self.key_of(folder)}/" for folder in folders))
        except InvalidLocation:
            return False

    def check_folder(self, location: str, table: TableId) -> None:
        """Raises InvalidLocation if a table may not live here: outside the allowed roots, or in another table's."""
        objects, key = self._place(location)
        if objects is not self._objects:
            return
        owner = key.split("/")[1].removesuffix(LOG_FOLDER_END)
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
        """Raises MissingTableFile if there is no such object."""
        objects, key = self._place(location)
        try:
            return await objects.get(key)
        except ObjectMissing as error:
            raise MissingTableFile(
                f"Failed to open input stream for file: {location}. It does not exist, though the table refers to it: "
                "restore it from a backup of the bucket"
            ) from error

    async def exists(self, location: str) -> bool:
        objects, key = self._place(location)
        (size,) = await objects.sizes([key])
        return size is not None

    async def write(self, location: str, *parts: Buffer) -> None:
        """Raises ObjectExists: objects are never overwritten."""
        objects, key = self._place(location)
        await objects.put(key, parts)

    async def make_folder(self, location: str) -> None:
        """Make the folder on a file store: some engines (DuckDB) write there before the table exists and expect it."""
        objects, folder = self._place(location)
        if not objects.is_remote:
            key = f"{folder}/{_FOLDER_MAKER}"
            with suppress(ObjectExists):  # left by a process that was killed between the two steps
                await objects.put(key, [b""])
            await objects.delete([key])

    async def list_below(self, folder: str) -> list[str]:
        """Locations of all objects below."""
        return list(await self.written_below(folder))

    async def written_below(self, folder: str) -> dict[str, int]:
        """Locations of all objects below, each with the time of its writing in milliseconds."""
        prefix = self.key_of(folder) + "/"
        return {f"{folder}/{i.key.removeprefix(prefix)}": i.modified_ms async for i in self._objects.list(prefix)}

    async def delete(self, locations: Sequence[str]) -> None:
        """A missing object is no error. A job's files are deleted long after its end, when nobody uses its folder."""
        places = [self._place(location) for location in locations]
        keys = [key for objects, key in places if objects is self._objects]
        of_jobs = {key.rpartition("/")[0] for key in keys if _job_of(key) is not None}
        await self._objects.delete(keys, unused_folders=sorted(of_jobs))
        for _, other in self._others:
            if elsewhere := [key for objects, key in places if objects is other]:
                await other.delete(elsewhere)

    async def delete_below(self, folder: str, *, but: Collection[str] = ()) -> int:
        """Delete all objects below a location that nobody writes to any more, except some keys. Returns how many
        objects there were."""
        objects, prefix = self._place(folder)
        keys = [info.key async for info in objects.list(f"{prefix}/") if info.key not in but]
        await objects.delete(keys, unused_folders=() if but else (prefix,))
        return len(keys)


def _job_of(key: str) -> JobId | None:
    _, owner, job, *rest = [*key.split("/"), "", ""]
    return job if owner.endswith(LOG_FOLDER_END) and is_ulid(job) and any(rest) else None


def root_of(url: str) -> str:
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
