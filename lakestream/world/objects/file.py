"""Objects as files below a folder (`file:///abs/path`): durable, and each created by only one writer.

    put:  open unnamed -> writev -> fsync -> link under its name -> fsync the folder -> bound what the page cache keeps

The name appears last, by `link`, which fails if the name is taken. A reader or a crash therefore sees a whole object or
none, and of many writers of one key one wins. The work runs in `Threads`.
"""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import TypeVar

from lakestream.model.errors import ObjectExists, ObjectMissing, StorageFull, StoreUnavailable
from lakestream.world.objects.durable_file import create_durably, make_folder_durably
from lakestream.world.objects.file_reads import read_range, read_sizes, read_tail, read_whole, scan_folder
from lakestream.world.objects.keys import checked_key
from lakestream.world.objects.store import Buffer, ObjectInfo
from lakestream.world.objects.written_pages import WrittenPages
from lakestream.world.threads import Threads

T = TypeVar("T")

DURABLE_FOLDERS_MAX = 4096
"""Folders remembered as durable. Every job of compaction has a folder of its own, so new ones come all the time. Past
the bound the store forgets all of them, and syncs a folder again when it is used again."""


class FileObjects:
    is_remote = False

    def __init__(self, root: Path, threads: Threads) -> None:
        self.url = root.as_uri()
        self._root = root
        self._threads = threads
        self._durable_folders = {root}
        self._written_pages = WrittenPages()

    async def put(self, key: str, parts: Sequence[Buffer]) -> None:
        path = self._root / checked_key(key)
        await self._threads.run(self._explained, key, lambda: self._create(path, parts))

    async def get(self, key: str) -> Buffer:
        path = self._root / checked_key(key)
        return await self._threads.run(self._explained, key, lambda: read_whole(path))

    async def get_range(self, key: str, at: int, length: int) -> Buffer:
        path = self._root / checked_key(key)
        return await self._threads.run(self._explained, key, lambda: read_range(path, at, length))

    async def get_tail(self, key: str, length: int) -> tuple[Buffer, int]:
        path = self._root / checked_key(key)
        return await self._threads.run(self._explained, key, lambda: read_tail(path, length))

    async def sizes(self, keys: Sequence[str]) -> Sequence[int | None]:
        """In one thread: looking at a file takes less time than switching to another thread."""
        paths = [self._root / checked_key(key) for key in keys]
        return await self._threads.run(self._explained, f"{keys[0] if keys else ''} ...", lambda: read_sizes(paths))

    async def list(self, prefix: str) -> AsyncIterator[ObjectInfo]:
        """Depth first. Only the folders on the current path are in memory."""
        folder = prefix.rpartition("/")[0]
        waiting: list[ObjectInfo | str] = [f"{folder}/" if folder else ""]
        while waiting:
            entry = waiting.pop()
            if isinstance(entry, ObjectInfo):
                yield entry
                continue
            children = await self._threads.run(scan_folder, self._root, entry)
            waiting.extend(child for child in reversed(children) if _may_match(child, prefix))

    async def delete(self, keys: Sequence[str], *, unused_folders: Sequence[str] = ()) -> None:
        paths, folders = ([self._root / checked_key(each) for each in names] for names in (keys, unused_folders))
        await self._threads.run(self._delete, paths, folders)

    async def close(self) -> None:
        pass

    def _create(self, path: Path, parts: Sequence[Buffer]) -> None:
        if len(self._durable_folders) >= DURABLE_FOLDERS_MAX:
            self._durable_folders = {self._root}
        try:
            make_folder_durably(path.parent, self._durable_folders)
            create_durably(path, parts)
        except FileNotFoundError:
            # Another process removed the folder since we last saw it: make it again, once.
            self._durable_folders = {self._root}
            make_folder_durably(path.parent, self._durable_folders)
            create_durably(path, parts)
        self._written_pages.wrote(path, sum(map(len, parts)))

    def _delete(self, paths: Sequence[Path], unused_folders: Sequence[Path]) -> None:
        # No fsync: a deletion that a power cut undoes is an unknown object, which the sweep removes again.
        for path in paths:
            path.unlink(missing_ok=True)
        for folder in unused_folders:
            self._remove_empty_folders(folder)

    def _remove_empty_folders(self, top: Path) -> None:
        """Remove `top` and the folders below it if empty. A folder that returns must be made durable again."""
        for folder, _, _ in os.walk(top, topdown=False):
            with suppress(OSError):  # it has files, or another process was faster
                os.rmdir(folder)
                self._durable_folders.discard(Path(folder))

    def _explained(self, key: str, work: Callable[[], T]) -> T:
        """Do the work. Errors of the operating system become ours."""
        try:
            return work()
        except FileExistsError:
            raise ObjectExists(f"object {key} is there already in {self.url}") from None
        except (FileNotFoundError, IsADirectoryError):
            raise ObjectMissing(f"there is no object {key} in {self.url}") from None
        except OSError as error:
            if error.errno in (ENOSPC, EDQUOT):
                raise StorageFull(
                    f"{self.url} has no room for object {key} ({error.strerror}): free some space on that disk"
                ) from error
            raise StoreUnavailable(f"{self.url} cannot serve object {key}: {error}") from error


def _may_match(entry: ObjectInfo | str, prefix: str) -> bool:
    if isinstance(entry, ObjectInfo):
        return entry.key.startswith(prefix)
    return entry.startswith(prefix) or prefix.startswith(entry)
