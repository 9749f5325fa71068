"""A kernel that lies on disk is used until any of the files that it was made of has changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLED = """
from pathlib import Path
from numba import njit
from lakestream.world.kernel_cache import kept_with
from {package}.inner import part

@kept_with(Path(__file__).parent, Path(__file__).parent / "beside")
@njit(nogil=True)
def total(x):
    return part(x) + 1
"""
INNER = """
from numba import njit

@njit
def part(x):
    return x * {times}
"""
USE = "from {package}.called import total; print(total(10), sum(total.stats.cache_misses.values()))"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "compiled"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "called.py").write_text(CALLED.format(package="compiled"))
    (folder / "inner.py").write_text(INNER.format(times=2))
    return folder


def used(package: Path, use: str = USE) -> str:
    """What a process of its own gets, and how many kernels it had to compile."""
    paths = os.pathsep.join([str(package.parent), *filter(None, sys.path)])
    command = [sys.executable, "-c", use.format(package=package.name)]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True).stdout


def test_a_change_in_what_a_kernel_calls_is_seen(package: Path) -> None:
    assert used(package) == "21 1\n"
    assert used(package) == "21 0\n", "from the disk"
    (package / "inner.py").write_text(INNER.format(times=3))
    assert used(package) == "31 1\n"
    (package / "more.py").write_text("NEW = 1\n")
    assert used(package) == "31 1\n", "every file of the folder counts"
    (package / "within").mkdir()
    (package / "within" / "apart.py").write_text("NEW = 1\n")
    assert used(package) == "31 0\n", "but no folder inside of it"
    (package / "beside").mkdir()
    (package / "beside" / "numbers.py").write_text("NEW = 1\n")
    assert used(package) == "31 1\n", "unless it was named too"


def test_a_kernel_whose_arguments_were_renamed_is_compiled_anew(package: Path) -> None:
    use = "from {package}.inner import {name}; from {package}.called import total; print(total({name}(10)))"
    for name in ("Before", "After"):
        (package / "inner.py").write_text(
            f"from typing import NamedTuple\nfrom numba import njit\n\nclass {name}(NamedTuple):\n    x: int\n\n"
            "@njit\ndef part(x):\n    return x.x * 2\n"
        )
        assert used(package, use.format(package=package.name, name=name)) == "21\n"
