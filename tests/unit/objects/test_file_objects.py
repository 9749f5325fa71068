"""Files as objects: whole or absent, whatever the disk does."""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from lakestream.model.errors import ObjectExists, StorageFull, StoreUnavailable
from lakestream.world.objects import durable_file, file
from lakestream.world.objects.file import FileObjects
from lakestream.world.threads import InlineThreads

Writev = Callable[[int, Sequence[memoryview]], int]
real_writev: Writev = os.writev


def files_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def put(root: Path, key: str, parts: list[bytes]) -> None:
    asyncio.run(FileObjects(root, InlineThreads()).put(key, parts))


def test_short_writes_go_on_where_they_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def three_bytes(descriptor: int, views: Sequence[memoryview]) -> int:
        return os.write(descriptor, b"".join(views)[:3])

    monkeypatch.setattr(os, "writev", three_bytes)
    put(tmp_path, "a", [b"ab", b"", b"cdefg", b"h"])
    assert (tmp_path / "a").read_bytes() == b"abcdefgh"


@pytest.mark.parametrize("unnamed_files", [True, False])
@pytest.mark.parametrize("reason", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnamed_files: bool, reason: int
) -> None:
    if not unnamed_files:
        without_unnamed_files(monkeypatch)
    calls = []

    def full_after_one(descriptor: int, views: Sequence[memoryview]) -> int:
        calls.append(len(views))
        if len(calls) > 1:
            raise OSError(reason, os.strerror(reason))
        return os.write(descriptor, b"".join(views)[:3])

    monkeypatch.setattr(os, "writev", full_after_one)
    with pytest.raises(StorageFull, match="free some space"):
        put(tmp_path, "wal/a", [b"abcdef"])
    assert files_below(tmp_path) == []


def test_a_real_full_file_system_is_storage_full() -> None:
    """/dev/full answers ENOSPC to every write, through the same path as a disk would."""
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with pytest.raises(OSError) as caught:
            durable_file._write_all(full, [b"x"])
        assert caught.value.errno == errno.ENOSPC
    finally:
        os.close(full)


def test_without_unnamed_files_a_put_is_still_whole_and_exclusive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_unnamed_files(monkeypatch)
    put(tmp_path, "wal/a", [b"first"])
    with pytest.raises(ObjectExists):
        put(tmp_path, "wal/a", [b"second"])
    assert files_below(tmp_path) == ["wal/a"]
    assert (tmp_path / "wal/a").read_bytes() == b"first"


def test_the_name_appears_only_after_the_bytes_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    real_fsync, real_link = os.fsync, os.link

    def fsync(descriptor: int) -> None:
        seen.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        real_fsync(descriptor)

    def link(*arguments: object, **options: object) -> None:
        seen.append("link")
        real_link(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    put(tmp_path, "wal/2f/a", [b"x"])
    assert seen == ["folder", "folder", "file", "link", "folder"]


def test_a_folder_removed_meanwhile_is_made_again(tmp_path: Path) -> None:
    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.put("wal/a", [b"1"])
        await store.delete(["wal/a"])
        (tmp_path / "wal").rmdir()
        await store.put("wal/b", [b"2"])

    asyncio.run(body())
    assert files_below(tmp_path) == ["wal/b"]


def test_folders_that_are_known_to_be_durable_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every job of compaction has a folder of its own: a pipeline once remembered all, for as long as it ran."""
    monkeypatch.setattr(file, "DURABLE_FOLDERS_MAX", 10)

    async def body() -> int:
        store, most = FileObjects(tmp_path, InlineThreads()), 0
        for number in range(50):
            await store.put(f"tables/{number}/a", [b"1"])
            most = max(most, len(store._durable_folders))
        return most

    assert asyncio.run(body()) <= 12  # the last one may come with folders above it
    assert len(files_below(tmp_path)) == 50


def test_an_unfinished_file_is_no_object(tmp_path: Path) -> None:
    (tmp_path / "wal").mkdir()
    (tmp_path / "wal" / f"{durable_file.UNFINISHED_PREFIX}1-2-a").write_bytes(b"half")

    async def body() -> list[str]:
        return [info.key async for info in FileObjects(tmp_path, InlineThreads()).list("")]

    assert asyncio.run(body()) == []


def test_a_put_syncs_its_file_and_then_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    real_fsync = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append("folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file")
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    put(tmp_path, "a", [b"x"])
    assert synced == ["file", "folder"]


@pytest.mark.parametrize("unnamed_files", [True, False])
def test_a_failed_put_closes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unnamed_files: bool) -> None:
    def full(descriptor: int, views: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if not unnamed_files:
        without_unnamed_files(monkeypatch)
    put(tmp_path, "taken", [b"x"])
    with pytest.raises(ObjectExists):
        put(tmp_path, "taken", [b"y"])
    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(StorageFull):
        put(tmp_path, "a", [b"y"])
    assert open_files_below(tmp_path) == []
    assert files_below(tmp_path) == ["taken"]


def test_a_broken_disk_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(StoreUnavailable):
        put(tmp_path, "a", [b"x"])
    assert files_below(tmp_path) == []


def without_unnamed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open

    def refusing(path: str | Path, flags: int, mode: int = 0o777, **options: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return real_open(path, flags, mode, **options)

    monkeypatch.setattr(os, "open", refusing)


def test_a_range_that_reaches_past_the_end_is_cut_there(tmp_path: Path) -> None:
    put(tmp_path, "a", [b"abcdefgh"])
    objects = FileObjects(tmp_path, InlineThreads())
    assert asyncio.run(objects.get_range("a", 2, 100)) == b"cdefgh"
    assert asyncio.run(objects.get_range("a", 8, 100)) == b""


def test_unused_folders_are_removed_only_if_they_are_empty(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        for key in ("tables/a/1/x", "tables/a/1/deep/y", "tables/a/2/z", "tables/b/w"):
            await store.put(key, [b"x"])
        await store.delete(["tables/a/1/x", "tables/a/1/deep/y"], unused_folders=["tables/a"])
        assert folders_below(tmp_path) == ["tables", "tables/a", "tables/a/2", "tables/b"]
        await store.delete(["tables/a/2/z"])
        assert folders_below(tmp_path) == ["tables", "tables/a", "tables/a/2", "tables/b"]
        for _ in range(2):
            await store.delete([], unused_folders=["tables/a"])
        assert folders_below(tmp_path) == ["tables", "tables/b"]
        await store.put("tables/a/2/z", [b"late"])
        assert files_below(tmp_path) == ["tables/a/2/z", "tables/b/w"]

    asyncio.run(scenario())


def test_a_folder_that_was_removed_and_made_again_is_made_durable_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an engine, say, which syncs nothing."""
    synced: list[Path] = []
    sync_folder = durable_file.sync_folder

    def noted(folder: Path) -> None:
        synced.append(folder)
        sync_folder(folder)

    monkeypatch.setattr(durable_file, "sync_folder", noted)

    async def scenario() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.put("tables/a/x", [b"x"])
        await store.delete(["tables/a/x"], unused_folders=["tables/a"])
        synced.clear()
        (tmp_path / "tables" / "a").mkdir()
        await store.put("tables/a/y", [b"y"])
        await store.put("tables/a/z", [b"z"])

    asyncio.run(scenario())
    assert synced == [tmp_path / "tables"]


def open_files_below(root: Path) -> list[str]:
    targets = []
    for descriptor in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            targets.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    return [target for target in targets if target.startswith(str(root))]


def folders_below(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir())
