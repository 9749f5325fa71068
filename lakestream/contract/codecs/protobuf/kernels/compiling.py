"""What is called by Python, and kept on disk until a file of this package changes (codecs/compiled/compiling.py)."""

from pathlib import Path

from lakestream.contract.codecs.compiled.compiling import kernels_of

kernel = kernels_of(Path(__file__).parent)
