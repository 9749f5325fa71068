"""WrittenPages: bound how much of our files stays in the kernel's page cache.

    wrote(path, bytes) -> remembered, newest last -> past the bound, the oldest are dropped from the page cache

A broker has a cache of its own for the tail of the log. The kernel's copy serves readers a moment later, above all
compaction in another process. After that moment it only occupies memory, so every further write takes pages from
elsewhere: the kernel looks for free pages, and in a virtual machine the host has to provide them again, which costs
several times the copying itself. If old pages are dropped in turn, the next file reuses them. Nothing is lost: the
files were synced before, and a late reader reads them from the disk.

Small files are left to the kernel: opening one again costs as much as its pages do, and the next writer would wait for
it.
"""

import os
from collections import deque
from contextlib import suppress
from pathlib import Path
from threading import Lock

KEPT_BYTES_MAX = 512 * 1024 * 1024
"""Enough for compaction, ten seconds behind, to find its input in memory at 50 MB/s."""

WORTH_BYTES_MIN = 64 * 1024
"""Smaller files are not dropped. So there are never more than some thousands of files to remember."""


class WrittenPages:
    """Safe for many threads at once."""

    def __init__(self, bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._kept: deque[tuple[Path, int]] = deque()
        self._bytes = 0
        self._lock = Lock()

    def wrote(self, path: Path, count: int) -> None:
        """A file of `count` bytes was written and synced."""
        if count < WORTH_BYTES_MIN:
            return
        for old in self._remember(path, count):
            with suppress(OSError):  # the file may be deleted by now, and dropping is only advice
                _drop(old)

    def _remember(self, path: Path, count: int) -> list[Path]:
        """Remember the file, and return those that are past the bound now."""
        with self._lock:
            self._kept.append((path, count))
            self._bytes += count
            past: list[Path] = []
            while self._bytes > self._bytes_max:
                old, old_bytes = self._kept.popleft()
                self._bytes -= old_bytes
                past.append(old)
            return past


def _drop(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)
