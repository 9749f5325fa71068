"""Caches compiled kernels on disk until one of their source files changes.

    kernel = kept_with(FOLDER)(njit(nogil=True)(function))

Numba keeps a kernel for as long as the file of that one function stays the same. But a function that it calls, or a
constant that it was compiled with, may be in another file and change unseen. So kernels of several files are cached by
the contents of all Python files of one or more folders. Keep little else in these folders: each change in them costs a
new compilation.
"""

# mypy: disable-error-code="no-untyped-call"

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


def kept_with(*folders: Path) -> Callable[[Any], Any]:
    """For a function that Numba compiles, without `cache=True`. Does not look into subfolders."""

    def keep(kernel: Any) -> Any:
        kernel._cache = FolderCache(kernel.py_func, folders)
        return kernel

    return keep


class FolderCache(FunctionCache):
    """Numba's own cache with another stamp.

    The stamp is part of the version as well. Numba reads the version first, and unpickles the rest of an index only if
    it matches: an index that names a class that was renamed since cannot be unpickled.
    """

    def __init__(self, function: Any, folders: Sequence[Path]) -> None:
        super().__init__(function)
        self.folders = folders
        stamp = _stamp(folders)
        self._cache_file = IndexDataCacheFile(
            cache_path=self._cache_path, filename_base=self._impl.filename_base, source_stamp=stamp
        )
        self._cache_file._version = f"{self._cache_file._version} {stamp.hex()}"


@cache
def _stamp(folders: Sequence[Path]) -> bytes:
    hashed = hashlib.sha256()
    for source in (source for folder in folders for source in sorted(folder.glob("*.py"))):
        content = source.read_bytes()
        hashed.update(f"{source.name} {len(content)}\n".encode() + content)
    return hashed.digest()
