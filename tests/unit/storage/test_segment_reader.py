"""Reading a span's bytes from an object that is not what the index says."""

import asyncio

import pytest

from lakestream.model.errors import ObjectMissing, SegmentLost
from lakestream.model.place import Span
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.reader.segment_reader import LOCAL_BLOCK_BYTES, SegmentReader
from lakestream.storage.wal.segment import segment_key
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from tests.unit.storage.test_flusher import Quiet

SPAN = Span(base_offset=0, last_offset=0, segment="01ABC", at=4, length=100, max_timestamp_ms=0, append_ms=-1)


def read_from(content: bytes | None) -> bytes:
    async def story() -> bytes:
        objects = MemoryObjects(SystemClock())
        if content is not None:
            await objects.put(segment_key(SPAN.segment), [content])
        reader = SegmentReader(objects, SegmentCache(1 << 20, Quiet()), Tasks(on_failure=lambda *_: None), Quiet())
        return b"".join(await reader.read(SPAN))

    return asyncio.run(story())


def test_a_span_is_read_as_it_was_written() -> None:
    assert read_from(b"LSG1" + bytes(range(100)) + b"footer") == bytes(range(100))


@pytest.mark.parametrize("length", [0, 3, 4, 50, 103])
def test_an_object_that_was_cut_short_is_lost_and_named(length: int) -> None:
    with pytest.raises(SegmentLost, match=r"01ABC ends at byte .* restore the object"):
        read_from((b"LSG1" + bytes(100))[:length])


def test_an_object_that_is_gone_is_missing() -> None:
    with pytest.raises(ObjectMissing):
        read_from(None)


def test_neighbours_of_a_small_span_are_read_with_it_and_those_of_a_large_one_are_not() -> None:
    async def story() -> list[bool]:
        objects = MemoryObjects(SystemClock())
        await objects.put(segment_key(SPAN.segment), [bytes(10 * LOCAL_BLOCK_BYTES)])
        reader = SegmentReader(objects, SegmentCache(1 << 20, Quiet()), Tasks(on_failure=lambda *_: None), Quiet())
        await reader.read(SPAN)
        neighbour, far = SPAN._replace(at=104), SPAN._replace(at=2 * LOCAL_BLOCK_BYTES)
        return [reader.cached(neighbour) is not None, reader.cached(far) is not None]

    assert asyncio.run(story()) == [True, False]
