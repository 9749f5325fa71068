"""A read over several places, of which one is lost: what lies before it is answered, and it alone is told as lost."""

import asyncio

import pytest

from lakestream.model.errors import ObjectMissing
from lakestream.model.place import FileSpan, PartitionView, Span, Tail
from lakestream.storage.cache.segment_cache import SegmentCache
from lakestream.storage.reader.inline_reader import InlineReader
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.reader.segment_reader import SegmentReader
from lakestream.storage.wal.segment import segment_key
from tests.unit.storage.batches import record_batch
from tests.unit.storage.test_flusher import Quiet
from tests.unit.storage.test_segment_reader import HeldInline
from tests.unit.tablefile.files import Bench, file_of, stretch_of

BATCH = record_batch(10)
SEGMENTS = ("01SEGMENT3", "01SEGMENT4")


def table_file(path: str, first: int) -> bytes:
    rows = [
        {"offset": offset, "timestamp": offset, "key": None, "value": b"v", "headers": []}
        for offset in range(first, first + 10)
    ]
    return file_of([stretch_of(rows)], path=path)[0]


FILES = {f"data/{first}.parquet": table_file(f"data/{first}.parquet", first) for first in (0, 10, 20)}
OBJECTS = FILES | {segment_key(segment): BATCH for segment in SEGMENTS}
SPANS = (
    *(FileSpan(at * 10, at * 10 + 9, path, None, 0, 10, 100, 0) for at, path in enumerate(FILES)),
    *(Span(at * 10, at * 10 + 9, segment, 0, len(BATCH), 0, -1) for at, segment in enumerate(SEGMENTS, 3)),
)
VIEW = PartitionView(Tail(0, 50), SPANS)


async def reader_without(bench: Bench, lost: str) -> LogReader:
    for path, content in OBJECTS.items():
        if path != lost:
            await bench.objects.put(path, [content])
    inline = InlineReader(HeldInline(), bench.tasks)
    segments = SegmentReader(bench.objects, inline, SegmentCache(0, Quiet()), bench.tasks, Quiet())
    return LogReader(segments, bench.reader)


@pytest.mark.parametrize(("at", "lost"), list(enumerate(OBJECTS))[1:])
def test_what_lies_before_a_lost_place_is_read_and_the_place_itself_is_told_as_missing(at: int, lost: str) -> None:
    first = at * 10

    async def story() -> None:
        bench = Bench()
        reader = await reader_without(bench, lost)
        for offset in range(0, first, 10):
            run = await reader.read(VIEW._replace(spans=SPANS[offset // 10 :]), offset, 1 << 20, at_least_one=True)
            assert (run.next_offset, run.bytes > 0) == (first, True)
        with pytest.raises(ObjectMissing):
            await reader.read(VIEW._replace(spans=SPANS[at:]), first, 1 << 20, at_least_one=True)
        rest = SPANS[at + 1 :]
        if rest:
            run = await reader.read(VIEW._replace(spans=rest), rest[0].base_offset, 1 << 20, at_least_one=True)
            assert run.next_offset == 50
        await bench.tasks.close()

    asyncio.run(story())


def test_with_every_place_there_one_read_goes_through_all() -> None:
    async def story() -> int:
        bench = Bench()
        reader = await reader_without(bench, "nothing")
        run = await reader.read(VIEW, 0, 1 << 20, at_least_one=True)
        await bench.tasks.close()
        return run.next_offset

    assert asyncio.run(story()) == 50
