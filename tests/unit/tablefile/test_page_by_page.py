"""A row group of several pages comes back whole, wherever runs end and whichever page has a null."""

import pytest

from lakestream.storage.records.header import Codec, read_header
from lakestream.storage.tablefile.read.encoded import Encoding
from tests.unit.records.samples import Row

from .files import PATH, Bench, codecs_of, file_of, file_span, read_through, rows_of, stretch_of, with_files

ROWS = 12_000
"""With these values a row group of three pages: the writer ends one after each 4,096 rows."""
VALUE_BYTES = 300


def rows(null_at: int | None = None) -> list[Row]:
    made: list[Row] = [
        {
            "offset": 3 * at,
            "timestamp": 1_000 + at % 7,
            "key": None if at % 3 else b"key-%d" % at,
            "value": (b"%d-" % at).ljust(VALUE_BYTES, b"v"),
            "headers": [{"key": "at", "value": b"%d" % at}] if at % 5 == 0 else [],
        }
        for at in range(ROWS)
    ]
    if null_at is not None:
        made[null_at]["value"] = None
    return made


@pytest.mark.parametrize("null_at", [None, 0, 5_000, ROWS - 1])
def test_every_page_comes_back_whichever_has_a_null(null_at: int | None) -> None:
    expected = rows(null_at)
    content, descriptor = file_of([stretch_of(expected)])
    assert len(descriptor.split_offsets) == 1

    async def read(bench: Bench) -> list[Row]:
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20)
        batches = [part for run in runs for part in run.parts]
        assert all(len(batch) <= Encoding().batch_bytes_max for batch in batches)
        assert sum(read_header(batch).record_count for batch in batches) == ROWS
        return rows_of(runs)

    assert with_files({PATH: content}, read) == expected


def test_runs_that_end_inside_of_a_page_keep_their_codecs() -> None:
    expected = rows()
    plain, packed = expected[:5_000], expected[5_000:]
    content, descriptor = file_of([stretch_of(plain), stretch_of(packed, codec=Codec.GZIP)])

    async def read(bench: Bench) -> list[Row]:
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20, Encoding(codec=Codec.LZ4))
        assert set(codecs_of(runs)) == {Codec.NONE, Codec.LZ4}
        return rows_of(runs)

    assert with_files({PATH: content}, read) == expected


def test_a_short_run_takes_no_room_for_the_whole_page() -> None:
    """Batches are kept, and with them the room that they lie in."""
    expected = rows()
    parts = [
        stretch_of(expected[:10], codec=Codec.GZIP),
        stretch_of(expected[10:20]),
        stretch_of(expected[20:], codec=Codec.GZIP),
    ]
    content, descriptor = file_of(parts)

    async def read(bench: Bench) -> memoryview:
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20, Encoding(codec=Codec.LZ4))
        (plain,) = [part for run in runs for part in run.parts if read_header(part).codec_number == Codec.NONE]
        return memoryview(plain)

    assert memoryview(with_files({PATH: content}, read).obj).nbytes < 20 * VALUE_BYTES


def test_batches_of_small_records_keep_no_more_room_than_they_fill() -> None:
    """Before they are encoded nobody knows how short they get: the most that they may take was once kept with them."""
    small: list[Row] = [
        {"offset": at, "timestamp": 1_000, "key": None, "value": b"%d" % (at % 10), "headers": []} for at in range(ROWS)
    ]
    content, descriptor = file_of([stretch_of(small)])

    async def read(bench: Bench) -> None:
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20)
        assert rows_of(runs) == small
        batches = [memoryview(part) for run in runs for part in run.parts]
        rooms = {id(batch.obj): memoryview(batch.obj).nbytes for batch in batches}
        assert sum(rooms.values()) == sum(map(len, batches))

    with_files({PATH: content}, read)
