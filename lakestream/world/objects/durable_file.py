"""Create one file, whole and durable, or not at all.

    O_TMPFILE -> writev -> fsync -> linkat -> fsync of the folder

If the file system has no unnamed files (NFS, some overlays), the file first gets a dotted name in the same folder,
which is removed once the real name is linked.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from errno import EINVAL, EISDIR, EOPNOTSUPP
from itertools import takewhile
from pathlib import Path

from lakestream.world.objects.store import Buffer

_IOV_MAX = os.sysconf("SC_IOV_MAX") if hasattr(os, "sysconf") else 1024
_NO_UNNAMED_FILES = frozenset({EOPNOTSUPP, EISDIR, EINVAL})
UNFINISHED_PREFIX = ".unfinished-"
"""Begins with a dot, so that no key and no listing can contain it."""


def create_durably(path: Path, parts: Sequence[Buffer]) -> None:
    """Create `path` from the joined parts. Raises FileExistsError; leaves nothing behind when it fails."""
    with _opened_folder(path.parent) as folder:
        _write_and_link(folder, path, parts)
        os.fsync(folder)


def make_folder_durably(folder: Path, durable: set[Path]) -> None:
    """Make `folder` and all missing folders above it, up to one that is known to be `durable`; then all are durable.

    Existing folders are synced too: a crash may have stopped their maker before the sync.
    """
    new = list(takewhile(lambda each: each not in durable, (folder, *folder.parents)))
    if new:
        folder.mkdir(parents=True, exist_ok=True)
    for each in new:
        sync_folder(each.parent)
    durable.update(new)


def make_root_durably(root: Path) -> None:
    """Make the store's own folder, and sync the folders that gained an entry."""
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    root.mkdir(parents=True, exist_ok=True)
    for folder in missing:
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    with _opened_folder(folder) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_and_link(folder: int, path: Path, parts: Sequence[Buffer]) -> None:
    try:
        unnamed = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if error.errno not in _NO_UNNAMED_FILES:
            raise
        return _write_named_and_link(folder, path.name, parts)
    try:
        _write_all(unnamed, parts)
        os.fsync(unnamed)
        os.link(f"/proc/self/fd/{unnamed}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(unnamed)


def _write_named_and_link(folder: int, name: str, parts: Sequence[Buffer]) -> None:
    temporary = f"{UNFINISHED_PREFIX}{os.getpid()}-{threading.get_native_id()}-{name}"
    descriptor = os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=folder)
    try:
        _write_all(descriptor, parts)
        os.fsync(descriptor)
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)


def _write_all(descriptor: int, parts: Sequence[Buffer]) -> None:
    """Call writev repeatedly: at most IOV_MAX buffers a call, and a short write continues where it stopped."""
    views = [memoryview(part).cast("B") for part in parts if len(part)]
    first = 0
    while first < len(views):
        written = os.writev(descriptor, views[first : first + _IOV_MAX])
        while first < len(views) and written >= len(views[first]):
            written -= len(views[first])
            first += 1
        if written:
            views[first] = views[first][written:]
