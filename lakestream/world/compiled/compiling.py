"""How the functions of kernels are compiled.

    kernel = kernels_of(FOLDER)

A `kernel` is called by Python, and kept on disk until a file of its folders or of this one changes. A `small` function
becomes a part of what calls it. One `apart` does not, unless LLVM finds it worth it: it is for what is rare or long,
which would push the rest out of the registers. That has to be said, since Numba hands `forceinline` on to all that a
function calls.
"""

# mypy: disable-error-code="call-overload"
# `_nrt`: without counting references. No kernel allocates, callers keep the arrays alive, and counting whenever one
# is handed to a small function made the walk over records twelve times slower. Numba does not tell of the option.

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

from lakestream.world.kernel_cache import kept_with

_INNER = {"nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Python calls none of these: what it would call them by takes long to compile."""
small = njit(**_INNER, forceinline=True)
apart = njit(**_INNER, forceinline=False)
_called = njit(nogil=True, _nrt=False, forceinline=False)


def kernels_of(*folders: Path) -> Callable[[Callable[..., Any]], Any]:
    kept = kept_with(*folders, Path(__file__).parent)
    return lambda function: kept(_called(function))
