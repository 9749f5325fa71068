"""Unnamed files that were opened while nobody waited, for puts that someone will wait for.

    fill(8)  -> 8 new files without names, empty, in the store's own folder
    take()   -> one of them, or None: the put opens its own

Most of what a small file costs the CPU is its inode. ext4 without a journal looks, for each new one, at every inode of
its group that was freed in the last minutes: a table whose commits delete what earlier ones wrote paid more for each
commit the longer it went on. A file without a name is gone with its process, whatever becomes of that.
"""

import os
from collections import deque
from contextlib import suppress
from pathlib import Path

SPARES_MAX = 16


class SpareFiles:
    """Used by many threads at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: deque[int] = deque()

    def take(self) -> int | None:
        """A descriptor, which is the caller's from here on."""
        try:
            return self._open.pop()
        except IndexError:
            return None

    def fill(self, count: int) -> None:
        """So many at least are there afterwards, where the file system has unnamed files and the process room."""
        with suppress(OSError):
            while len(self._open) < min(count, SPARES_MAX):
                self._open.append(open_unnamed(self._folder))

    def close(self) -> None:
        while (spare := self.take()) is not None:
            os.close(spare)


def open_unnamed(folder: Path) -> int:
    """Raises OSError where the file system knows no such files."""
    return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o644)
