"""Reads go to the right row group and to nothing else, once for all who ask, and ahead of those who read on."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from lakestream.model.errors import ObjectMissing
from lakestream.storage.records.header import Codec, crc_of, read_header
from lakestream.storage.tablefile.format.blocks import BLOCK_BYTES
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.footer import parse_footer
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.loading import TAIL_BYTES
from lakestream.storage.tablefile.read.page_by_page import batches_of_group
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.storage.tablefile.write.stretch import rows_stretch
from lakestream.world.chance import SeededChance
from lakestream.world.threads import InlineThreads, ThreadPool
from tests.unit.records.samples import Row, arrow

from .files import PATH, Bench, file_of, file_span, plain_rows, read_through, rows_of, span_of, stretch_of, with_files

T = TypeVar("T")
GROUP_ROWS = 64
VALUE_BYTES = 2_000


def big_rows(count: int) -> list[Row]:
    chance = SeededChance(7)
    return [
        {"offset": at, "timestamp": at, "key": None, "value": chance.bytes(VALUE_BYTES), "headers": []}
        for at in range(count)
    ]


ROWS = big_rows(1_000)
CONTENT, DESCRIPTOR = file_of([stretch_of(ROWS)], limits=RowGroupLimits(rows_max=GROUP_ROWS))
SPAN = file_span(DESCRIPTOR)
FILES = {PATH: CONTENT}


def group_of(offset: int) -> tuple[int, int]:
    """First and last byte of the row group."""
    at = offset // GROUP_ROWS
    starts = [*DESCRIPTOR.split_offsets, len(CONTENT)]
    return starts[at], starts[at + 1]


def test_a_seek_fetches_the_footer_and_its_own_row_group_and_nothing_else() -> None:
    async def seek(bench: Bench) -> None:
        await bench.reader.by_time(SPAN, 1_000_000, 0)
        assert bench.objects.reads == [(PATH, len(CONTENT) - TAIL_BYTES, TAIL_BYTES)], "the footer, by one GET"
        for offset in (660, 130):
            bench.objects.reads.clear()
            run = await bench.reader.read(SPAN, offset, 1, at_least_one=True, encoding=Encoding(batch_bytes_max=9_000))
            for _ in range(20):
                await asyncio.sleep(0)
            assert read_header(run.parts[0]).base_offset <= offset < run.next_offset
            first, last = group_of(offset)
            ((_, at, length),) = bench.objects.reads
            assert first - BLOCK_BYTES < at <= first + 200, "rounded to a block"
            assert last <= at + length < last + BLOCK_BYTES

    assert len(CONTENT) > 10 * TAIL_BYTES
    with_files(FILES, seek)


def test_reading_on_begins_the_next_row_group_before_it_is_asked_for() -> None:
    async def read_on(bench: Bench) -> None:
        quarter = GROUP_ROWS * VALUE_BYTES // 4
        encoding = Encoding(batch_bytes_max=quarter)
        offset, groups_read = 0, []
        for _ in range(4):
            run = await bench.reader.read(SPAN, offset, quarter + 1_000, at_least_one=True, encoding=encoding)
            offset = run.next_offset
            for _ in range(20):
                await asyncio.sleep(0)
            groups_read.append(len(bench.objects.reads) - 1)
        assert groups_read[0] == 1
        assert groups_read[-1] == 2
        assert offset <= GROUP_ROWS, "all answers came from the first group"

    with_files(FILES, read_on)


def test_a_large_read_spans_row_groups_and_fetches_each_once() -> None:
    async def read_all(bench: Bench) -> list[Any]:
        runs = await read_through(bench.reader, SPAN, 0, 1 << 20)
        reads = bench.objects.reads
        assert len(reads) == len(set(reads)) == 1 + len(DESCRIPTOR.split_offsets)
        return rows_of(runs)

    assert with_files(FILES, read_all) == ROWS


def test_what_was_read_is_kept_and_what_is_too_much_is_dropped() -> None:
    async def twice(bench: Bench) -> int:
        for _ in range(2):
            await read_through(bench.reader, SPAN, 0, 1 << 20)
        return len(bench.objects.reads)

    once = 1 + len(DESCRIPTOR.split_offsets)
    assert with_files(FILES, twice) == once
    assert with_files(FILES, twice, cache_bytes_max=300_000) == 2 * once - 1


def test_all_who_want_the_same_row_group_share_one_get() -> None:
    async def together(bench: Bench) -> None:
        reads = (bench.reader.read(SPAN, 10, 1, at_least_one=True) for _ in range(20))
        runs = await asyncio.gather(*reads)
        assert len({bytes(run.parts[0]) for run in runs}) == 1
        footer, group, *ahead = bench.objects.reads
        assert footer != group
        assert len(ahead) <= 1, "the next row group may have been begun, once"
        assert group not in ahead

    with_files(FILES, together)


def test_whoever_gives_up_does_not_take_the_others_along() -> None:
    async def one_leaves(bench: Bench) -> int:
        leaving = asyncio.ensure_future(bench.reader.read(SPAN, 10, 1, at_least_one=True))
        staying = asyncio.ensure_future(bench.reader.read(SPAN, 10, 1, at_least_one=True))
        await asyncio.sleep(0)
        leaving.cancel()
        return (await staying).next_offset

    assert with_files(FILES, one_leaves) > 10


def test_partitions_that_share_a_row_group_share_its_bytes() -> None:
    limits = RowGroupLimits(rows_max=1_000, bytes_max=1 << 24, alone_rows=1_000, alone_bytes=1 << 24)
    stretches = [stretch_of(ROWS[:100], partition=partition) for partition in range(3)]
    content, descriptor = file_of(stretches, limits=limits)

    async def each(bench: Bench) -> None:
        for partition in range(3):
            span = file_span(descriptor, partition)
            assert rows_of(await read_through(bench.reader, span, 0, 1 << 24)) == ROWS[:100]
        assert len(bench.objects.reads) == 2

    with_files({PATH: content}, each)


def test_a_small_file_comes_with_its_footer_in_one_get() -> None:
    content, descriptor = file_of([rows_stretch(plain_rows(100), partition=0, codec=Codec.NONE)])

    async def read_it(bench: Bench) -> None:
        await read_through(bench.reader, file_span(descriptor), 0, 1 << 20)
        assert len(bench.objects.reads) == 1
        assert bench.metrics.bytes == len(content)

    with_files({PATH: content}, read_it)


def test_a_footer_longer_than_the_first_get_is_fetched_whole() -> None:
    stretches = [rows_stretch(plain_rows(1), partition=partition, codec=Codec.NONE) for partition in range(8_000)]
    content, descriptor = file_of(stretches)
    assert int.from_bytes(content[-8:-4], "little") > TAIL_BYTES

    async def read_it(bench: Bench) -> int:
        return (await bench.reader.read(file_span(descriptor, 4_321), 0, 1, at_least_one=True)).next_offset

    assert with_files({PATH: content}, read_it) == 1


def test_an_answer_that_has_no_room_is_empty_unless_one_batch_is_wanted_at_least() -> None:
    async def small(bench: Bench) -> None:
        nothing = await bench.reader.read(SPAN, 5, 10, at_least_one=False)
        assert nothing == ([], 0, 5)
        one = await bench.reader.read(SPAN, 5, 10, at_least_one=True)
        assert len(one.parts) == 1 and one.next_offset > 5

    with_files(FILES, small)


def test_a_hole_at_the_end_of_the_span_is_an_empty_batch() -> None:
    content, descriptor = file_of([stretch_of(ROWS[:10])])

    async def past_the_rows(bench: Bench) -> None:
        span = span_of((PATH,), 25)
        run = await bench.reader.read(span, 0, 1 << 20, at_least_one=True)
        assert run.next_offset == 26
        header = read_header(run.parts[-1])
        assert (header.base_offset, header.last_offset_delta, header.record_count) == (10, 15, 0)
        assert header.crc == crc_of(run.parts[-1])
        assert rows_of([run]) == ROWS[:10]
        assert await bench.reader.read(span, 12, 10, at_least_one=False) == ([], 0, 12)

    with_files({PATH: content}, past_the_rows)
    assert descriptor.partitions[0].last_offset == 9


def test_batches_are_no_larger_than_asked_unless_they_hold_one_record() -> None:
    async def sizes(bench: Bench) -> None:
        for bytes_max in (1_000, 5_000, 100_000):
            encoding = Encoding(batch_bytes_max=bytes_max)
            for run in await read_through(bench.reader, SPAN, 0, 1 << 20, encoding):
                for part in run.parts:
                    assert len(part) <= bytes_max or read_header(part).record_count == 1

    with_files(FILES, sizes)


def test_row_groups_before_a_damaged_one_are_read_and_that_one_is_told() -> None:
    damaged = bytearray(CONTENT)
    damaged[(sum(group_of(5 * GROUP_ROWS))) // 2] ^= 1
    span, bytes_max = SPAN, 8 * GROUP_ROWS * VALUE_BYTES

    async def read(bench: Bench) -> None:
        run = await bench.reader.read(span, 0, bytes_max, at_least_one=True)
        assert (run.next_offset, rows_of([run])) == (5 * GROUP_ROWS, ROWS[: 5 * GROUP_ROWS])
        with pytest.raises(MalformedTableFile, match="row group 5"):
            await bench.reader.read(span, run.next_offset, bytes_max, at_least_one=True)

    with_files({PATH: bytes(damaged)}, read)


def test_a_kept_footer_holds_no_more_than_it_is_counted_for() -> None:
    held = bytearray(TAIL_BYTES)
    held[:] = CONTENT[-TAIL_BYTES:]
    footer = parse_footer(PATH, held, len(CONTENT))
    assert footer.whole is None
    held.clear()  # fails while anything points into it


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the size of a process as Linux tells it")
@pytest.mark.parametrize(("rows", "group_rows", "footers"), [(20, 1_000, 2_000), (2_000, 50, 200)])
def test_footers_are_counted_for_about_the_memory_that_they_take(rows: int, group_rows: int, footers: int) -> None:
    command = [sys.executable, "-m", "tests.unit.tablefile.footer_memory", str(rows), str(group_rows), str(footers)]
    counted, taken = map(int, subprocess.run(command, capture_output=True, check=True, timeout=120).stdout.split())
    assert 0.7 * taken < counted < 1.6 * taken


def test_what_breaks_while_reading_ahead_is_told_to_whoever_asks_and_breaks_nothing_else() -> None:
    class Broken(InlineThreads):
        async def run(self, work: Callable[..., T], *arguments: Any) -> T:
            if work is batches_of_group:
                raise RuntimeError("a fault of the codec")
            return await super().run(work, *arguments)

    async def story() -> list[BaseException]:
        bench = Bench(threads=Broken())
        await bench.objects.put(PATH, [CONTENT])
        for _ in range(2):
            with pytest.raises(RuntimeError, match="a fault of the codec"):
                await bench.reader.read(SPAN, 0, 10 * GROUP_ROWS * VALUE_BYTES, at_least_one=True)
        for _ in range(20):
            await asyncio.sleep(0)
        return bench.failures

    assert asyncio.run(story()) == [], "a broker stops when work in its background breaks"


def test_a_file_that_is_gone_is_told_as_missing_and_may_come_back() -> None:
    async def gone(bench: Bench) -> None:
        with pytest.raises(ObjectMissing, match=PATH):
            await bench.reader.read(SPAN, 0, 1, at_least_one=True)
        with pytest.raises(ObjectMissing):
            await bench.reader.by_time(SPAN, 0, 0)
        await bench.objects.put(PATH, [CONTENT])
        assert (await bench.reader.read(SPAN, 0, 1, at_least_one=True)).bytes > 0
        await bench.objects.delete([PATH])
        with pytest.raises(ObjectMissing):
            await bench.reader.read(SPAN, 900, 1, at_least_one=True)

    with_files({}, gone)


def test_it_reads_the_same_in_threads() -> None:
    async def run() -> list[Row]:
        threads = ThreadPool(2, "table")
        bench = Bench(threads=threads)
        await bench.objects.put(PATH, [CONTENT])
        rows = rows_of(await read_through(bench.reader, SPAN, 0, 1 << 20))
        await bench.tasks.close()
        threads.close()
        return rows

    assert asyncio.run(run()) == ROWS


def test_keys_and_headers_that_a_row_group_has_none_of_are_not_read() -> None:
    bare = arrow([{**row, "key": None, "headers": []} for row in ROWS[:200]])
    keyed = arrow([{**row, "key": b"k" * 500, "headers": [{"key": "h", "value": b"x" * 500}]} for row in ROWS[:200]])

    async def fetched(bench: Bench) -> int:
        await read_through(bench.reader, span_of((PATH,), 199), 0, 1 << 24)
        return bench.metrics.bytes

    sizes = []
    for rows in (bare, keyed):
        content, _ = file_of([rows_stretch(rows, partition=0, codec=Codec.NONE)])
        sizes.append(with_files({PATH: content}, fetched))
    assert sizes[0] < sizes[1]
