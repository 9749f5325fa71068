"""Lookups by time find the very record, and open only row groups that may hold it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lakestream.storage.tablefile.format.blocks import BLOCK_BYTES
from lakestream.storage.tablefile.read.times import RecordAtTime
from lakestream.storage.tablefile.write.sizes import RowGroupLimits
from lakestream.world.chance import SeededChance
from tests.unit.records.samples import Row

from .files import PATH, TINY_GROUPS, Bench, file_of, file_span, span_of, stretch_of, with_files


def rows_at(times: list[int]) -> list[Row]:
    return [
        {"offset": 3 * at, "timestamp": time, "key": None, "value": b"v", "headers": []}
        for at, time in enumerate(times)
    ]


def first(rows: list[Row], timestamp_ms: int, from_offset: int) -> RecordAtTime | None:
    """Brute force."""
    for row in rows:
        if row["offset"] >= from_offset and row["timestamp"] >= timestamp_ms:
            return RecordAtTime(row["offset"], row["timestamp"])
    return None


@settings(deadline=None, max_examples=150)
@given(
    times=st.lists(st.integers(-1, 20), min_size=1, max_size=25),
    in_log=st.lists(st.booleans(), min_size=25, max_size=25),
    timestamp_ms=st.integers(0, 21),
    from_offset=st.integers(0, 80),
)
def test_by_time_and_the_greatest_time_are_what_a_scan_finds(
    times: list[int], in_log: list[bool], timestamp_ms: int, from_offset: int
) -> None:
    rows = rows_at(times)
    shares = {
        "main.parquet": [row for row, log in zip(rows, in_log, strict=False) if not log],
        "log.parquet": [row for row, log in zip(rows, in_log, strict=False) if log],
    }
    files = {
        path: file_of([stretch_of(share)], path=path, limits=TINY_GROUPS)[0] for path, share in shares.items() if share
    }
    span = span_of(tuple(files), rows[-1]["offset"])
    ahead = [row["timestamp"] for row in rows if row["offset"] >= from_offset]

    async def look(bench: Bench) -> None:
        assert await bench.reader.by_time(span, timestamp_ms, from_offset) == first(rows, timestamp_ms, from_offset)
        latest = first(rows, max(ahead), from_offset) if ahead else None
        assert await bench.reader.max_timestamp(span, from_offset) == latest

    with_files(files, look)


def test_a_lookup_reads_only_offsets_and_times_of_row_groups_that_reach_it() -> None:
    chance = SeededChance(3)
    rows = [{**row, "value": chance.bytes(1_000)} for row in rows_at(list(range(1_000)))]
    content, descriptor = file_of([stretch_of(rows)], limits=RowGroupLimits(rows_max=100))

    async def look(bench: Bench) -> None:
        span = file_span(descriptor)
        assert await bench.reader.by_time(span, 555, 0) == RecordAtTime(3 * 555, 555)
        (_, (_, at, length)) = bench.objects.reads
        assert at <= descriptor.split_offsets[5] < at + length
        assert length <= 2 * BLOCK_BYTES < descriptor.split_offsets[6] - descriptor.split_offsets[4]
        assert await bench.reader.by_time(span, 1_000, 0) is None
        assert len(bench.objects.reads) == 2, "the footer alone says that there is none"

    with_files({PATH: content}, look)
