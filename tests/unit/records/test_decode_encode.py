"""Arrow to batches and back: nothing is lost, and other clients agree on every byte."""

from itertools import cycle, pairwise

import numpy as np
import pyarrow as pa
import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.encode import UnencodableRows, encode_batches, encode_placed
from lakestream.storage.records.errors import BatchTooLarge, CorruptBatch
from lakestream.storage.records.header import HEADER_BYTES, Codec, read_header, with_log_append_time
from tests.unit.records.samples import (
    BYTES_MAX,
    NOW_MS,
    ROWS,
    Row,
    arrow,
    built_by_aiokafka,
    dense_rows,
    gapped_rows,
    one_batch,
    read_by_kafka_python,
    with_fields,
)


@given(rows=gapped_rows(), codec=st.sampled_from(Codec), batch_bytes_max=st.sampled_from([61, 200, 1000, BYTES_MAX]))
def test_rows_survive_the_way_to_batches_and_back(rows: list[Row], codec: Codec, batch_bytes_max: int) -> None:
    batches = encode_batches(arrow(rows), batch_bytes_max=batch_bytes_max, codec=codec)
    decoded = decode_batches(b"".join(batches), bytes_max=BYTES_MAX)
    decoded.validate(full=True)
    assert decoded.schema == SCHEMA
    assert decoded.to_pylist() == rows


@given(
    rows=gapped_rows(),
    times=st.lists(st.sampled_from([5, 6, NOW_MS]), max_size=30),
    codec=st.sampled_from([Codec.NONE, Codec.LZ4]),
    batch_bytes_max=st.sampled_from([61, 200, BYTES_MAX]),
)
def test_batches_of_log_append_time_end_where_it_changes(
    rows: list[Row], times: list[int], codec: Codec, batch_bytes_max: int
) -> None:
    for row, time in zip(rows, cycle(times or [7]), strict=False):
        row["timestamp"] = time
    batches = encode_placed(arrow(rows), batch_bytes_max=batch_bytes_max, codec=codec, log_append_time=True)
    headers = [read_header(batch.data) for batch in batches]
    assert all(header.is_log_append_time and header.codec_number == codec for header in headers)
    assert all(header.base_timestamp_ms == header.max_timestamp_ms for header in headers)
    assert decode_batches(b"".join(batch.data for batch in batches), bytes_max=BYTES_MAX).to_pylist() == rows
    leaps = any(row["offset"] - rows[0]["offset"] >= 2**31 for row in rows)  # a batch ends there as well
    if batch_bytes_max == BYTES_MAX and not leaps:
        changes = sum(one["timestamp"] != next_one["timestamp"] for one, next_one in pairwise(rows))
        assert len(batches) == changes + bool(rows)


@given(rows=dense_rows(min_size=1))
def test_the_bytes_are_those_of_aiokafka(rows: list[Row]) -> None:
    rows[0]["timestamp"] = abs(rows[0]["timestamp"])  # aiokafka takes a leading -1 for "not known yet"
    ours, theirs = one_batch(rows), built_by_aiokafka(rows)
    assert read_header(ours)._replace(leader_epoch=0) == read_header(theirs)._replace(leader_epoch=0)
    assert ours[HEADER_BYTES:] == theirs[HEADER_BYTES:]


@given(rows=dense_rows(min_size=1), codec=st.sampled_from([Codec.GZIP, Codec.SNAPPY, Codec.LZ4, Codec.ZSTD]))
def test_what_aiokafka_compresses_is_read(rows: list[Row], codec: Codec) -> None:
    rows[0]["timestamp"] = abs(rows[0]["timestamp"])  # aiokafka takes a leading -1 for "not known yet"
    assert decode_batches(built_by_aiokafka(rows, codec), bytes_max=BYTES_MAX).to_pylist() == rows


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP, Codec.LZ4])
def test_what_kafka_python_builds_is_read(codec: Codec) -> None:
    builder = KafkaPythonBuilder(2, codec, False, 7, 3, 11, BYTES_MAX)
    for row in ROWS:
        headers = [(header["key"], header["value"]) for header in row["headers"]]
        builder.append(row["offset"], row["timestamp"], row["key"], row["value"], headers)
    assert decode_batches(bytes(builder.build()), bytes_max=BYTES_MAX).to_pylist() == ROWS


@given(rows=gapped_rows(), codec=st.sampled_from([Codec.NONE, Codec.GZIP]))
def test_kafka_python_reads_what_we_write(rows: list[Row], codec: Codec) -> None:
    batches = encode_batches(arrow(rows), batch_bytes_max=500, codec=codec)
    assert [row for batch in batches for row in read_by_kafka_python(bytes(batch))] == rows


@pytest.mark.parametrize("codec", Codec)
def test_aiokafka_reads_what_we_write(codec: Codec) -> None:
    batch = AiokafkaBatch(bytearray(one_batch(ROWS, codec)))
    assert batch.validate_crc()
    assert [(record.key, record.value, record.offset, record.timestamp) for record in batch] == [
        (row["key"], row["value"], row["offset"], row["timestamp"]) for row in ROWS
    ]


@given(rows=gapped_rows(), start=st.integers(0, 20), length=st.integers(0, 30))
def test_a_slice_of_rows_is_encoded_as_if_it_were_whole(rows: list[Row], start: int, length: int) -> None:
    batches = encode_batches(arrow(rows).slice(start, length), batch_bytes_max=700)
    assert decode_batches(b"".join(batches), bytes_max=BYTES_MAX).to_pylist() == rows[start : start + length]


def test_batches_end_before_they_grow_too_large() -> None:
    rows = [{"offset": i, "timestamp": i, "key": None, "value": b"v" * 90, "headers": []} for i in range(100)]
    rows[50]["value"] = b"v" * 5000
    batches = encode_batches(arrow(rows), batch_bytes_max=1000)
    sizes = [(len(batch), read_header(batch).record_count) for batch in batches]
    assert all(size <= 1000 or count == 1 for size, count in sizes)
    assert sum(size > 1000 for size, _ in sizes) == 1
    assert sum(count for _, count in sizes) == 100


def test_offsets_that_are_too_far_apart_for_one_batch_get_two() -> None:
    rows = [{**ROWS[0], "offset": offset} for offset in (5, 5 + 2**31 - 1, 5 + 2**31, 2**62)]
    batches = encode_batches(arrow(rows), batch_bytes_max=BYTES_MAX)
    assert [read_header(batch).base_offset for batch in batches] == [5, 5 + 2**31, 2**62]
    assert read_header(batches[0]).last_offset_delta == 2**31 - 1
    assert decode_batches(b"".join(batches), bytes_max=BYTES_MAX).to_pylist() == rows


@pytest.mark.parametrize("time", [0, -1, 2**62, -(2**62)])
def test_times_of_any_size_survive(time: int) -> None:
    rows = [{**ROWS[0], "offset": i, "timestamp": t} for i, t in enumerate([NOW_MS, time, NOW_MS, time])]
    assert decode_batches(one_batch(rows), bytes_max=BYTES_MAX).to_pylist() == rows


def test_nothing_makes_nothing() -> None:
    assert encode_batches(arrow([]), batch_bytes_max=1000) == []
    assert decode_batches(b"", bytes_max=0).to_pylist() == []


def test_a_batch_that_compaction_emptied_has_no_rows() -> None:
    empty = with_fields(one_batch(ROWS)[:HEADER_BYTES], batch_length=HEADER_BYTES - 12, record_count=0)
    decoded = decode_batches(empty + one_batch(ROWS), bytes_max=BYTES_MAX)
    assert decoded.to_pylist() == ROWS


def test_base_offsets_place_the_batches_of_a_segment() -> None:
    data = one_batch(ROWS) + one_batch(ROWS, Codec.ZSTD) + one_batch(ROWS)
    decoded = decode_batches(data, bytes_max=BYTES_MAX, base_offsets=[100, 104, 2**40])
    expected = [*range(100, 108), *range(2**40, 2**40 + 4)]
    assert decoded.column("offset").to_pylist() == expected


def test_log_append_time_is_the_time_of_every_record() -> None:
    data = with_log_append_time(one_batch(ROWS, Codec.LZ4), 42) + one_batch(ROWS)
    times = decode_batches(data, bytes_max=BYTES_MAX).column("timestamp").to_pylist()
    assert times == [42] * 4 + [row["timestamp"] for row in ROWS]


@given(codecs=st.lists(st.sampled_from(Codec), max_size=12))
def test_batches_of_all_codecs_may_lie_in_one_run(codecs: list[Codec]) -> None:
    data = b"".join(one_batch(ROWS, codec) for codec in codecs)
    assert decode_batches(data, bytes_max=BYTES_MAX).to_pylist() == ROWS * len(codecs)


@pytest.mark.parametrize("codec", Codec)
def test_a_flipped_bit_is_found_by_the_checksum(codec: Codec) -> None:
    batch = bytearray(one_batch(ROWS, codec))
    batch[-1] ^= 1
    with pytest.raises(CorruptBatch, match="checksum"):
        decode_batches(one_batch(ROWS) + batch, bytes_max=BYTES_MAX)


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_half_a_batch_at_the_end_is_corrupt(cut: int) -> None:
    with pytest.raises(CorruptBatch, match="length"):
        decode_batches((one_batch(ROWS) * 2)[:-cut], bytes_max=BYTES_MAX)


def test_the_bound_is_for_all_batches_together() -> None:
    size = len(one_batch(ROWS)) - HEADER_BYTES
    data = one_batch(ROWS) + one_batch(ROWS, Codec.GZIP) + one_batch(ROWS)
    assert decode_batches(data, bytes_max=size * 3).num_rows == 12
    with pytest.raises(BatchTooLarge):
        decode_batches(data, bytes_max=size * 3 - 1)


@pytest.mark.parametrize("count", [5, 10_000, 2**31 - 1])
def test_a_count_beyond_the_records_is_corrupt_and_takes_no_memory(count: int) -> None:
    lying = with_fields(one_batch(ROWS), record_count=count, last_offset_delta=count - 1)
    with pytest.raises(CorruptBatch):
        decode_batches(lying, bytes_max=BYTES_MAX)


def test_only_proper_rows_are_encoded() -> None:
    rows = arrow(ROWS)
    with pytest.raises(UnencodableRows, match="schema"):
        encode_batches(rows.select(["offset", "value"]), batch_bytes_max=1000)
    with pytest.raises(UnencodableRows, match="rise"):
        encode_batches(arrow([ROWS[1], ROWS[0]]), batch_bytes_max=1000)
    with pytest.raises(UnencodableRows, match="rise"):
        encode_batches(arrow([ROWS[1], ROWS[1]]), batch_bytes_max=1000)
    nullable = pa.schema([field.with_nullable(True) for field in SCHEMA])
    with pytest.raises(UnencodableRows, match="null"):
        encode_batches(
            pa.RecordBatch.from_pylist([{**ROWS[0], "headers": None}], schema=nullable), batch_bytes_max=1000
        )


def test_read_only_and_writable_bytes_decode_alike() -> None:
    batch = one_batch(ROWS)
    for data in (batch, bytearray(batch), memoryview(batch), memoryview(np.frombuffer(batch, np.uint8).copy())):
        assert decode_batches(data, bytes_max=BYTES_MAX).to_pylist() == ROWS
