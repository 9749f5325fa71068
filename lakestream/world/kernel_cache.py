"""Compiled kernels kept on disk, for as long as none of the files that they are made of has changed.

    kernel = kept_with(FOLDER)(njit(nogil=True)(function))

Numba keeps a kernel for as long as the file of that one function stays the same: a function that it calls, or a number
that it was compiled with, may stand in another file and change unseen. Kernels of several files are kept by the
contents of all Python files of a folder instead, or of several. So keep in them what is compiled, and little else: each
change in there costs a new compilation.
"""

# mypy: disable-error-code="no-untyped-call"

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile


def kept_with(*folders: Path) -> Callable[[Any], Any]:
    """For a function that Numba compiles, without `cache=True`. Looks at no folder inside of these."""

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
