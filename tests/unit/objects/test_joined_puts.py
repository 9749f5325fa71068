"""Small puts that were foreseen: made together, each with a fate of its own."""

import asyncio
import errno
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from lakestream.model.errors import ObjectExists, StoreUnavailable
from lakestream.world.objects.file import JOINED_BYTES_MAX, FileObjects
from lakestream.world.threads import InlineThreads

P = ParamSpec("P")
T = TypeVar("T")
real_fsync, real_link = os.fsync, os.link


class CountingThreads(InlineThreads):
    def __init__(self) -> None:
        self.runs = 0

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        self.runs += 1
        return await super().run(work, *args, **kwargs)


def put_at_once(root: Path, keys: Sequence[str], content: bytes = b"x") -> tuple[list[BaseException | None], int]:
    """What became of puts that were foreseen, and how many pieces of work threads had by them."""

    async def body() -> tuple[list[BaseException | None], int]:
        threads = CountingThreads()
        store = FileObjects(root, threads)
        await store.foresee_puts(8)
        threads.runs = 0
        done = await asyncio.gather(*(store.put(key, [key.encode(), content]) for key in keys), return_exceptions=True)
        await store.close()
        return done, threads.runs

    return asyncio.run(body())


def is_folder(descriptor: int) -> bool:
    return os.path.isdir(f"/proc/self/fd/{descriptor}")


def test_puts_that_come_together_are_one_piece_of_work(tmp_path: Path) -> None:
    assert put_at_once(tmp_path, ["t/a", "t/b", "u/c"]) == ([None] * 3, 1)
    written = {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("?/?")}
    assert written == {"t/a": b"t/ax", "t/b": b"t/bx", "u/c": b"u/cx"}


def test_a_large_put_has_a_thread_to_itself(tmp_path: Path) -> None:
    assert put_at_once(tmp_path, ["a", "b"], bytes(JOINED_BYTES_MAX)) == ([None] * 2, 2)


def test_files_are_synced_before_they_have_names_and_their_folder_once_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def fsync(descriptor: int) -> None:
        steps.append("folder" if is_folder(descriptor) else "file")
        real_fsync(descriptor)

    def link(*arguments: object, **options: object) -> None:
        steps.append("link")
        real_link(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "link", link)
    assert put_at_once(tmp_path, ["a", "b", "c"])[0] == [None] * 3
    assert steps == ["file"] * 3 + ["link"] * 3 + ["folder"]


def test_a_name_that_is_taken_is_the_failure_of_its_put_alone(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"old")
    first, second, third = put_at_once(tmp_path, ["a", "b", "c"])[0]
    assert first is None and isinstance(second, ObjectExists) and third is None
    assert [(tmp_path / name).read_bytes() for name in "abc"] == [b"ax", b"old", b"cx"]


def test_of_two_puts_of_one_key_one_wins(tmp_path: Path) -> None:
    done = put_at_once(tmp_path, ["a", "a"])[0]
    assert [type(each) for each in done] == [type(None), ObjectExists]


def test_a_name_whose_folder_could_not_be_synced_is_not_promised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is there, so that trying again would find it and take it for durable."""

    def fsync(descriptor: int) -> None:
        if is_folder(descriptor):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    done = put_at_once(tmp_path, ["a", "b"])[0]
    assert [type(each) for each in done] == [StoreUnavailable] * 2


def test_a_file_that_could_not_be_synced_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed: list[int] = []

    def fsync(descriptor: int) -> None:
        if not failed and not is_folder(descriptor):
            failed.append(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real_fsync(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    assert put_at_once(tmp_path, ["a", "b"])[0] == [None] * 2
    assert failed and [(tmp_path / name).read_bytes() for name in "ab"] == [b"ax", b"bx"]


def test_whoever_stops_waiting_harms_no_other(tmp_path: Path) -> None:
    async def body() -> None:
        store = FileObjects(tmp_path, InlineThreads())
        await store.foresee_puts(2)
        gone, staying = (asyncio.ensure_future(store.put(key, [b"x"])) for key in "ab")
        await asyncio.sleep(0)
        gone.cancel()
        await staying

    asyncio.run(body())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
