"""Reading a span's bytes from an object that is not what the index says."""

import asyncio
from collections.abc import Sequence

import pytest

from lakestream.model.errors import ObjectMissing, SegmentLost
from lakestream.model.place import InlineData, SegmentId, Span, inline_id
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.reader.inline_reader import InlineReader
from lakestream.storage.reader.segment_reader import LOCAL_BLOCK_BYTES, SegmentReader
from lakestream.storage.wal.segment import segment_key
from lakestream.world.clock import SystemClock
from lakestream.world.objects.memory import MemoryObjects
from lakestream.world.tasks import Tasks
from tests.unit.storage.test_flusher import Quiet

SPAN = Span(base_offset=0, last_offset=0, segment="01ABC", at=4, length=100, max_timestamp_ms=0, append_ms=-1)


class HeldInline(dict[SegmentId, InlineData]):
    """Inline segments as the metadata store would have them. Counts the queries."""

    queries = 0

    async def read(self, segments: Sequence[SegmentId]) -> dict[SegmentId, InlineData]:
        self.queries += 1
        return {segment: self[segment] for segment in segments if segment in self}


def reader_of(objects: MemoryObjects, inline: HeldInline | None = None) -> SegmentReader:
    tasks = Tasks(on_failure=lambda *_: None)
    held = HeldInline() if inline is None else inline
    return SegmentReader(objects, InlineReader(held, tasks), SegmentCache(1 << 20, Quiet()), tasks, Quiet())


def read_from(content: bytes | None) -> bytes:
    async def story() -> bytes:
        objects = MemoryObjects(SystemClock())
        if content is not None:
            await objects.put(segment_key(SPAN.segment), [content])
        reader = reader_of(objects)
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
        reader = reader_of(objects)
        await reader.read(SPAN)
        neighbour, far = SPAN._replace(at=104), SPAN._replace(at=2 * LOCAL_BLOCK_BYTES)
        return [reader.cached(neighbour) is not None, reader.cached(far) is not None]

    assert asyncio.run(story()) == [True, False]


def test_inline_spans_of_one_fetch_are_read_from_the_store_by_one_query_and_then_from_the_cache() -> None:
    async def story() -> tuple[list[bytes], int]:
        held = HeldInline({inline_id("01A"): b"first", inline_id("01B"): b"--second"})
        reader = reader_of(MemoryObjects(SystemClock()), held)
        spans = [
            SPAN._replace(segment=inline_id("01A"), at=0, length=5),
            SPAN._replace(segment=inline_id("01B"), at=2, length=6),
        ]
        for _ in range(2):
            pieces = await asyncio.gather(*map(reader.read, spans))
        return [b"".join(piece) for piece in pieces], held.queries

    assert asyncio.run(story()) == ([b"first", b"second"], 1)


def test_an_inline_segment_that_has_moved_is_missing_and_its_neighbour_is_read() -> None:
    async def story() -> None:
        reader = reader_of(MemoryObjects(SystemClock()), HeldInline({inline_id("01A"): b"first"}))
        gone = SPAN._replace(segment=inline_id("01B"), at=0, length=5)
        here = gone._replace(segment=inline_id("01A"))
        missing, found = await asyncio.gather(reader.read(gone), reader.read(here), return_exceptions=True)
        assert isinstance(missing, ObjectMissing)
        assert found == [b"first"]

    asyncio.run(story())
