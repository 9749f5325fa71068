"""The `kernel` decorator for loops that Python calls.

Compiled code stays on disk until a file of this package or of its parent changes, since both hold constants that are
compiled in (world/compiled/compiling.py).
"""

from pathlib import Path

from lakestream.world.compiled.compiling import kernels_of

_HERE = Path(__file__).parent
kernel = kernels_of(_HERE, _HERE.parent)
