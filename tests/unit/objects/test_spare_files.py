"""Files that were opened ahead: used once, gone unnoticed, and never the only way."""

import asyncio
import errno
import os
from contextlib import suppress
from pathlib import Path

import pytest

from lakestream.model.errors import ObjectExists, StorageFull
from lakestream.world.objects.file import FileObjects
from lakestream.world.objects.spare_files import SPARES_MAX, SpareFiles
from lakestream.world.threads import InlineThreads


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders in which unnamed files were opened, in order."""
    folders: list[str] = []
    real_open = os.open

    def noting(path: str | Path, flags: int, mode: int = 0o777, **options: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            folders.append(Path(path).name)
        return real_open(path, flags, mode, **options)

    monkeypatch.setattr(os, "open", noting)
    return folders


def open_descriptors(below: Path) -> int:
    """Of files below a folder: sockets of earlier tests' servers come and go."""
    targets = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            targets.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return sum(target.startswith(str(below)) for target in targets)


def test_a_foreseen_put_opens_no_file_of_its_own(tmp_path: Path, opened: list[str]) -> None:
    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.foresee_puts(2)
        assert opened == [tmp_path.name] * 2
        for key in ("wal/a", "wal/b", "wal/c"):
            await store.put(key, [key.encode()])
        assert opened[2:] == ["wal"]

    asyncio.run(body())
    assert {path.name: path.read_bytes() for path in (tmp_path / "wal").iterdir()} == {
        "a": b"wal/a",
        "b": b"wal/b",
        "c": b"wal/c",
    }


def test_a_foreseen_put_is_synced_like_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        real_fsync(descriptor)

    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.foresee_puts(1)
        monkeypatch.setattr(os, "fsync", fsync)
        await store.put("a", [b"x"])

    asyncio.run(body())
    assert synced == ["file", "folder"]


def test_spare_files_have_a_bound_and_end_with_the_store(tmp_path: Path) -> None:
    before = open_descriptors(tmp_path)
    spares = SpareFiles(tmp_path)
    spares.fill(SPARES_MAX + 5)
    assert open_descriptors(tmp_path) == before + SPARES_MAX
    spares.close()
    assert open_descriptors(tmp_path) == before
    assert spares.take() is None


def test_a_failed_put_lets_go_of_its_spare_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, views: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.put("taken", [b"x"])
        before = open_descriptors(tmp_path)
        await store.foresee_puts(2)
        with pytest.raises(ObjectExists):
            await store.put("taken", [b"y"])
        monkeypatch.setattr(os, "writev", full)
        with pytest.raises(StorageFull):
            await store.put("a", [b"y"])
        assert open_descriptors(tmp_path) == before

    asyncio.run(body())
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_folder_on_another_file_system_does_without_spare_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_link, links = os.link, []

    def link(*arguments: object, **options: object) -> None:
        links.append(arguments)
        if len(links) == 1:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        real_link(*arguments, **options)  # type: ignore[arg-type]

    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.foresee_puts(1)
        monkeypatch.setattr(os, "link", link)
        await store.put("wal/a", [b"whole"])

    asyncio.run(body())
    assert (tmp_path / "wal/a").read_bytes() == b"whole"


def test_without_unnamed_files_there_are_no_spare_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refusing(path: object, flags: int, mode: int = 0o777) -> int:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "open", refusing)
    spares = SpareFiles(tmp_path)
    spares.fill(4)
    assert spares.take() is None
