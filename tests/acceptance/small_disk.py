"""A disk of a few megabytes that can be filled, or made read-only: a tmpfs, where this machine lets us mount one."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_BALLAST = "ballast"
_CHUNK_BYTES = 64 * 1024


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """To the last byte."""
        with (self.folder / _BALLAST).open("ab", buffering=0) as ballast:
            for size in (_CHUNK_BYTES, 1024, 1):
                _write_until_full(ballast.fileno(), size)

    def empty(self) -> None:
        """What `fill` took is free again."""
        (self.folder / _BALLAST).unlink()

    def make_read_only(self) -> None:
        _run("mount", "-o", "remount,ro", str(self.folder))

    def make_writable(self) -> None:
        _run("mount", "-o", "remount,rw", str(self.folder))


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Iterator[SmallDisk]:
    if shutil.which("mount") is None:
        pytest.skip("a small disk cannot be mounted here: there is no mount command")
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here (root may): {mounted.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        _run("umount", "--lazy", str(folder))


def _write_until_full(descriptor: int, size: int) -> None:
    try:
        while os.write(descriptor, b"\xff" * size):
            pass
    except OSError:
        return  # no room for one of this size


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)
