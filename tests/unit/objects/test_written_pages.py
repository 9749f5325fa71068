"""The page cache keeps what was written last, and no more than it is told to."""

import os
from pathlib import Path

import pytest

from lakestream.world.objects.written_pages import WORTH_BYTES_MIN, WrittenPages

KIB = 1024


@pytest.fixture
def dropped(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files whose pages the kernel was told to let go, in order."""
    names: list[str] = []

    def advise(descriptor: int, at: int, length: int, advice: int) -> None:
        assert (at, length, advice) == (0, 0, os.POSIX_FADV_DONTNEED)
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

    monkeypatch.setattr(os, "posix_fadvise", advise)
    return names


def write(pages: WrittenPages, path: Path, count: int) -> None:
    path.write_bytes(bytes(count))
    pages.wrote(path, count)


def test_the_oldest_files_are_dropped_once_there_are_too_many_bytes(tmp_path: Path, dropped: list[str]) -> None:
    pages = WrittenPages(bytes_max=300 * KIB)
    for name in "abcde":
        write(pages, tmp_path / name, 100 * KIB)
    assert dropped == ["a", "b"]


def test_small_files_are_left_to_the_kernel(tmp_path: Path, dropped: list[str]) -> None:
    pages = WrittenPages(bytes_max=100 * KIB)
    write(pages, tmp_path / "a", 100 * KIB)
    for name in "bcde":
        write(pages, tmp_path / name, WORTH_BYTES_MIN - 1)
    assert dropped == []
    write(pages, tmp_path / "f", WORTH_BYTES_MIN)
    assert dropped == ["a"]


def test_a_file_that_was_deleted_meanwhile_is_passed_over(tmp_path: Path, dropped: list[str]) -> None:
    pages = WrittenPages(bytes_max=100 * KIB)
    write(pages, tmp_path / "a", 100 * KIB)
    (tmp_path / "a").unlink()
    write(pages, tmp_path / "b", 100 * KIB)
    write(pages, tmp_path / "c", 100 * KIB)
    assert dropped == ["b"]


def test_a_file_larger_than_the_bound_is_dropped_at_once_and_stays_readable(tmp_path: Path) -> None:
    write(WrittenPages(bytes_max=100 * KIB), tmp_path / "a", 200 * KIB)
    assert (tmp_path / "a").read_bytes() == bytes(200 * KIB)
