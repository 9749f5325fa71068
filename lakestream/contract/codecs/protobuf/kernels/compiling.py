"""The `kernel` decorator for loops that Python calls.

Compiled code stays on disk until a file of this package changes (world/compiled/compiling.py).
"""

from pathlib import Path

from lakestream.world.compiled.compiling import kernels_of

kernel = kernels_of(Path(__file__).parent)
