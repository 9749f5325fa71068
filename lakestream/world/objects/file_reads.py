"""Read object files: whole, a range, the tail, their sizes, and one folder's listing.

`pread` into a fresh bytes object costs one copy out of the page cache and no zero-filling first.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG

from lakestream.world.objects.store import ObjectInfo

_READ_BYTES_MAX = 1 << 30
"""Linux stops a single read a little below 2 GiB, so longer reads take several calls."""


def read_whole(path: Path) -> bytes:
    with _opened(path) as descriptor:
        return _pread(descriptor, 0, os.fstat(descriptor).st_size)


def read_range(path: Path, at: int, length: int) -> bytes:
    with _opened(path) as descriptor:
        return _pread(descriptor, at, length)


def read_tail(path: Path, length: int) -> tuple[bytes, int]:
    with _opened(path) as descriptor:
        size = os.fstat(descriptor).st_size
        return _pread(descriptor, max(0, size - length), min(size, length)), size


def read_sizes(paths: Sequence[Path]) -> list[int | None]:
    """The size of each file; None: there is no such file."""
    return [_size(path) for path in paths]


def _size(path: Path) -> int | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_size if S_ISREG(found.st_mode) else None


def scan_folder(root: Path, below: str) -> list[ObjectInfo | str]:
    """The entries directly in the folder `below` ('' or ending in '/'), in key order: objects, and folders as 'name/'.

    A folder sorts with its slash, because that is how the keys inside it compare with their neighbours.
    """
    try:
        with os.scandir(root / below) as entries:
            found = [_described(entry, below) for entry in entries if not entry.name.startswith(".")]
    except FileNotFoundError:
        return []
    return sorted((entry for entry in found if entry is not None), key=_sort_key)


def _described(entry: "os.DirEntry[str]", below: str) -> ObjectInfo | str | None:
    key = below + entry.name
    if entry.is_dir():
        return key + "/"
    try:
        status = entry.stat()
    except FileNotFoundError:
        return None
    return ObjectInfo(key, status.st_size, status.st_mtime_ns // 1_000_000)


def _sort_key(entry: ObjectInfo | str) -> str:
    return entry.key if isinstance(entry, ObjectInfo) else entry


def _pread(descriptor: int, at: int, length: int) -> bytes:
    first = os.pread(descriptor, min(length, _READ_BYTES_MAX), at)
    pieces = [first]
    remaining = length - len(first)
    while remaining and (piece := os.pread(descriptor, min(remaining, _READ_BYTES_MAX), at + length - remaining)):
        pieces.append(piece)
        remaining -= len(piece)
    return first if len(pieces) == 1 else b"".join(pieces)  # one piece is not copied, even if it ends early


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
