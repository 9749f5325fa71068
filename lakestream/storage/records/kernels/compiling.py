"""What is called by Python, and kept on disk until a file of this package or of the one around it changes: the numbers
that it is compiled with stand in both (world/compiled/compiling.py)."""

from pathlib import Path

from lakestream.world.compiled.compiling import kernels_of

_HERE = Path(__file__).parent
kernel = kernels_of(_HERE, _HERE.parent)
