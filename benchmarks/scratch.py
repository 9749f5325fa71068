"""A folder for the data of one benchmark, gone at its end."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.report import ROOT


@contextmanager
def scratch_folder() -> Iterator[Path]:
    # Not in the system's temporary folder: that may be memory, and its fsync costs nothing.
    parent = ROOT / ".cache"
    parent.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
