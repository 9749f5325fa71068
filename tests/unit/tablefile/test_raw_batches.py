"""Batches that cannot be rows, and times that the broker gave: nothing of them is lost."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakestream.model.row_form import Form
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.records.header import Codec, crc_of, read_header
from lakestream.storage.tablefile.format.errors import UnstorableRows
from lakestream.storage.tablefile.format.runs import RAW_BATCH
from lakestream.storage.tablefile.read.encoded import Encoding
from lakestream.storage.tablefile.read.times import RecordAtTime
from lakestream.storage.tablefile.write.stretch import TIMESTAMP_MS_MAX, Stretch, stretches_of_span
from tests.unit.records.samples import BYTES_MAX, NOW_MS, ROWS, Row, one_batch, with_fields, with_records

from .files import (
    LOG_PATH,
    PATH,
    Bench,
    codecs_of,
    file_of,
    file_span,
    read_through,
    rows_of,
    span_of,
    stretch_of,
    with_files,
)

BROKEN = with_records(one_batch(ROWS), b"\xff" * 40)
"""Four records by its header and its checksum; what follows is none."""


def stretches(data: bytes, *, base_offset: int = 0, append_ms: int = -1) -> list[Stretch]:
    return list(
        stretches_of_span(
            data, partition=0, base_offset=base_offset, append_ms=append_ms, decompressed_bytes_max=BYTES_MAX
        )
    )


def shifted(rows: list[Row], by: int) -> list[Row]:
    return [{**row, "offset": row["offset"] + by} for row in rows]


def test_a_batch_that_cannot_be_read_becomes_one_row_over_all_its_offsets() -> None:
    taken = stretches(one_batch(ROWS) + BROKEN + one_batch(ROWS), base_offset=100)
    assert [(each.source, each.last_offset) for each in taken] == [(0, 103), (RAW_BATCH, 107), (0, 111)]
    content, descriptor = file_of(taken, with_form=True)
    rows = pq.read_table(pa.BufferReader(content)).to_pylist()
    assert [row["__form"] for row in rows] == [1, 1, 2, 1, Form.RAW_BATCH, 1, 1, 2, 1]
    assert (rows[4]["__offset"], rows[4]["__value"]) == (104, BROKEN)
    assert descriptor.partitions[0][1:4] == (100, 111, 9)


def test_a_raw_batch_is_served_as_it_is_at_its_place() -> None:
    content, descriptor = file_of(
        stretches(one_batch(ROWS) + BROKEN + one_batch(ROWS), base_offset=100), with_form=True
    )

    async def replay(bench: Bench) -> list[bytes]:
        runs = await read_through(bench.reader, file_span(descriptor), 100, 1)
        assert [run.next_offset for run in runs] == [104, 108, 112]
        assert (await bench.reader.read(file_span(descriptor), 106, 1, at_least_one=True)).next_offset == 108
        return [bytes(part) for run in runs for part in run.parts]

    first, raw, last = with_files({descriptor.path: content}, replay)
    assert read_header(raw).base_offset == 104
    assert raw[16:] == BROKEN[16:]
    assert decode_batches(first + last, bytes_max=BYTES_MAX).to_pylist() == shifted(ROWS, 100) + shifted(ROWS, 108)


def test_a_raw_batch_lies_between_the_rows_of_the_other_file() -> None:
    first, raw, last = stretches(one_batch(ROWS) + BROKEN + one_batch(ROWS))
    main, _ = file_of([first, last])
    log, _ = file_of([raw], path=LOG_PATH, with_form=True)

    async def replay(bench: Bench) -> list[int]:
        runs = await read_through(bench.reader, span_of((PATH, LOG_PATH), 11), 0, 1 << 20)
        return [read_header(part).base_offset for run in runs for part in run.parts]

    assert with_files({PATH: main, LOG_PATH: log}, replay) == [0, 4, 8]


@pytest.mark.parametrize(
    "batch",
    [
        pytest.param(one_batch(ROWS)[:-1] + b"\x07", id="checksum"),
        pytest.param(with_fields(one_batch(ROWS), attributes=6), id="codec"),
        pytest.param(with_fields(one_batch(ROWS), base_timestamp_ms=TIMESTAMP_MS_MAX), id="time"),
        pytest.param(with_fields(one_batch(ROWS), record_count=3), id="count"),
        pytest.param(with_fields(one_batch(ROWS), last_offset_delta=9), id="offsets"),
    ],
)
def test_whatever_is_wrong_with_a_batch_its_bytes_are_kept(batch: bytes) -> None:
    (taken,) = stretches(batch)
    assert taken.source == RAW_BATCH
    assert taken.rows.column("value")[0].as_py() == batch
    content, descriptor = file_of([taken], with_form=True)

    async def replay(bench: Bench) -> bytes:
        run = await bench.reader.read(file_span(descriptor), 0, 1, at_least_one=True)
        return b"".join(run.parts)

    assert with_files({descriptor.path: content}, replay)[16:] == batch[16:]


def test_bytes_that_are_not_even_batches_are_refused() -> None:
    for bad in (b"x" * 100, one_batch(ROWS)[:-1], one_batch(ROWS) + b"x"):
        with pytest.raises(CorruptBatch):
            stretches(bad)


def test_a_file_without_the_form_column_takes_no_raw_batch() -> None:
    with pytest.raises(UnstorableRows, match="form"):
        file_of(stretches(BROKEN))


def test_a_raw_batch_counts_with_its_greatest_time() -> None:
    content, descriptor = file_of(stretches(one_batch(ROWS) + BROKEN, base_offset=0), with_form=True)

    async def look(bench: Bench) -> None:
        span = file_span(descriptor)
        assert await bench.reader.by_time(span, NOW_MS + 9, 4) == RecordAtTime(4, NOW_MS + 9)
        assert await bench.reader.by_time(span, NOW_MS + 9, 6) == RecordAtTime(6, NOW_MS + 9)
        assert await bench.reader.max_timestamp(span, 5) == RecordAtTime(5, NOW_MS + 9)

    with_files({descriptor.path: content}, look)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_log_append_time_comes_back_as_such_with_the_time_of_each_flush(codec: Codec) -> None:
    early = stretches(one_batch(ROWS, codec), append_ms=5_000)
    late = stretches(one_batch(ROWS, codec) + one_batch(ROWS, codec), base_offset=4, append_ms=6_000)
    content, descriptor = file_of(early + late)

    async def replay(bench: Bench) -> None:
        runs = await read_through(bench.reader, file_span(descriptor), 0, 1 << 20, Encoding(codec=Codec.ZSTD))
        batches = [bytes(part) for run in runs for part in run.parts]
        headers = [read_header(batch) for batch in batches]
        assert [(header.is_log_append_time, header.max_timestamp_ms) for header in headers] == [
            (True, 5_000),
            (True, 6_000),
        ]
        assert all(header.crc == crc_of(batch) for header, batch in zip(headers, batches, strict=True))
        assert set(codecs_of(runs)) == {Codec.ZSTD if codec else Codec.NONE}
        assert [row["timestamp"] for row in rows_of(runs)] == [5_000] * 4 + [6_000] * 8

    with_files({descriptor.path: content}, replay)


def test_a_broken_batch_with_log_append_time_is_stored_as_consumers_see_it() -> None:
    (taken,) = stretches(BROKEN, append_ms=7_000)
    stored = taken.rows.column("value")[0].as_py()
    assert read_header(stored).is_log_append_time
    assert read_header(stored).max_timestamp_ms == 7_000
    assert read_header(stored).crc == crc_of(stored), "as its producer sent it, so nobody has damaged it"


def test_a_batch_that_was_damaged_in_storage_keeps_a_wrong_checksum_with_log_append_time() -> None:
    (taken,) = stretches(one_batch(ROWS)[:-1] + b"\x07", append_ms=7_000)
    stored = taken.rows.column("value")[0].as_py()
    assert read_header(stored).max_timestamp_ms == 7_000
    assert read_header(stored).crc != crc_of(stored)


def test_stretches_stop_at_the_bound_of_what_is_decoded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = one_batch(ROWS)
    monkeypatch.setattr("lakestream.storage.tablefile.write.stretch.TOGETHER_BYTES_MAX", 2 * len(batch))
    taken = stretches(batch * 5)
    assert [each.rows.num_rows for each in taken] == [8, 8, 4]
    assert replace(taken[0], rows=taken[0].rows.slice(1)).last_offset == 7
    assert stretch_of(shifted(ROWS, 3)).last_offset == 6
