"""How the functions of kernels are compiled.

    kernel = kernels_of(FOLDER)

Python calls a `kernel`, which stays cached on disk until a file of its folders or of this one changes. A `small`
function is inlined into its caller. An `apart` function is not, unless LLVM finds it worth it: it is for rare or long
code, which would push the rest out of the registers. It must be marked, since Numba passes `forceinline` on to all
functions that a function calls.
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
"""Python calls none of these, so they get no wrappers for it, which take long to compile."""
small = njit(**_INNER, forceinline=True)
apart = njit(**_INNER, forceinline=False)
_called = njit(nogil=True, _nrt=False, forceinline=False)


def kernels_of(*folders: Path) -> Callable[[Callable[..., Any]], Any]:
    kept = kept_with(*folders, Path(__file__).parent)
    return lambda function: kept(_called(function))
