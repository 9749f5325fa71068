"""Stores written by earlier versions are opened, brought up to date, and say what they always said."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from lakestream.model.place import inline_id
from lakestream.model.segment import Abandoned, BatchStatus, Committed, SegmentBatch, SegmentCommit
from tests.golden.metadata.make import HERE, INLINE, NOW_MS, content, opened, segment


def version_of(file: Path) -> int:
    return int(file.stem.removeprefix("sqlite-v"))


VERSIONS = sorted(HERE.glob("sqlite-v*.db"), key=version_of)


def test_there_are_golden_stores() -> None:
    assert VERSIONS


@pytest.mark.parametrize("golden", VERSIONS, ids=lambda file: file.stem)
def test_a_golden_store_says_what_it_always_said(golden: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = await opened(Path(shutil.copy(golden, tmp_path)))
        try:
            assert await content(store) == json.loads(golden.with_suffix(".json").read_text())
        finally:
            await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("golden", VERSIONS, ids=lambda file: file.stem)
def test_a_golden_store_can_be_written_on(golden: Path, tmp_path: Path) -> None:
    """Kept results, producer windows and fates are still understood."""

    async def scenario() -> None:
        store = await opened(Path(shutil.copy(golden, tmp_path)))
        try:
            (topic,) = (await store.topics()).topics
            first = topic.partitions[0]

            def commit(name: str, sequence: int) -> SegmentCommit:
                batch = SegmentBatch(first, 4, 100, 5, NOW_MS, -1, 1, 0, sequence)
                return SegmentCommit(segment=name, broker_id=3, incarnation=1, bytes=108, batches=(batch,))

            last = await store.commit_segment(commit(segment(2), 10))
            assert isinstance(last, Committed)
            assert [result.base_offset for result in last.results] == [14, 19, 2]
            assert await store.commit_segment(commit(segment(9), 15)) == Abandoned()
            repeated = await store.commit_segment(commit(segment(11), 0))
            assert repeated == Committed(results=((BatchStatus.DUPLICATE, 0, -1, 8),))
            stored = await store.commit_segment(commit(segment(12), 15))
            assert stored == Committed(results=((BatchStatus.STORED, 21, -1, 8),))
        finally:
            await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("golden", [file for file in VERSIONS if version_of(file) >= 7], ids=lambda file: file.stem)
def test_inline_bytes_of_a_golden_store_are_there(golden: Path, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = await opened(Path(shutil.copy(golden, tmp_path)))
        try:
            assert await store.inline.read([inline_id(segment(3))]) == {inline_id(segment(3)): INLINE}
        finally:
            await store.close()

    asyncio.run(scenario())
