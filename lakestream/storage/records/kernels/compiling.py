"""How the functions of this package are compiled.

A `kernel` is called by Python, and kept on disk until a file of this package or of the one around it changes: the
numbers that it is compiled with stand in both (world/kernel_cache.py). A `small` function becomes a part of what calls
it, one `apart` only where LLVM finds it worth it.

Without NRT, Numba's reference counting: nothing here allocates, callers keep the arrays alive, and counting references
whenever an array is handed to a small function made the walk twelve times slower.
"""

# mypy: disable-error-code="call-overload"

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from lakestream.world.kernel_cache import kept_with

_INNER = {"nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Python calls none of these: what it would call them by takes long to compile."""
small = njit(**_INNER, forceinline=True)
apart = njit(**_INNER)
_called = njit(nogil=True, _nrt=False)
_here = Path(__file__).parent
_kept = kept_with(_here, _here.parent)


def kernel(function: Callable[..., Any]) -> Any:
    return _kept(_called(function))
