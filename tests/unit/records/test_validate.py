"""The gate: each thing that Kafka refuses on produce is refused here, with the error that Kafka gives."""

from dataclasses import replace

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakestream.model.errors import LakestreamError
from lakestream.storage.records.compression import compress
from lakestream.storage.records.errors import (
    BadBatch,
    BatchTooLarge,
    CorruptBatch,
    InvalidRecord,
    InvalidTimestamp,
    UnsupportedCompression,
)
from lakestream.storage.records.header import HEADER_BYTES, Codec, read_header
from lakestream.storage.records.validate import RECORD_ERRORS_MAX, validate_batch
from tests.unit.records.samples import (
    LIMITS,
    NOW_MS,
    ROWS,
    Row,
    built_by_aiokafka,
    dense_rows,
    one_batch,
    with_fields,
    with_records,
)

GOOD = one_batch(ROWS)
INNER_BYTES = GOOD[HEADER_BYTES:]
CODED = [codec for codec in Codec if codec is not Codec.NONE]


@given(rows=dense_rows(min_size=1), codec=st.sampled_from(Codec))
def test_what_clients_send_passes(rows: list[Row], codec: Codec) -> None:
    rows[0]["timestamp"] = abs(rows[0]["timestamp"])  # aiokafka takes a leading -1 for "not known yet"
    for batch in (one_batch(rows, codec), built_by_aiokafka(rows, codec)):
        valid = validate_batch(memoryview(bytearray(batch)), LIMITS)
        assert valid.header == read_header(batch)
        assert valid.max_timestamp_ms == max(row["timestamp"] for row in rows)
        assert valid.has_null_key == any(row["key"] is None for row in rows)


WRONG = {
    "no batch": (b"", InvalidRecord),
    "less than a header": (GOOD[:60], CorruptBatch),
    "cut off": (GOOD[:-1], CorruptBatch),
    "a second batch": (GOOD + GOOD, InvalidRecord),
    "trailing bytes": (GOOD + b"\x00", InvalidRecord),
    "an impossible length": (with_fields(GOOD, batch_length=3), CorruptBatch),
    "a negative length": (with_fields(GOOD, batch_length=-1), CorruptBatch),
    "an old format": (with_fields(GOOD, magic=1), InvalidRecord),
    "a flipped bit": (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), CorruptBatch),
    "a flipped bit in the header": (GOOD[:30] + bytes([GOOD[30] ^ 1]) + GOOD[31:], CorruptBatch),
    "codec 5": (with_fields(GOOD, attributes=5), UnsupportedCompression),
    "codec 7": (with_fields(GOOD, attributes=7), UnsupportedCompression),
    "a base offset": (with_fields(GOOD, base_offset=1), InvalidRecord),
    "no records": (with_records(GOOD, b"", record_count=0, last_offset_delta=-1), InvalidRecord),
    "a negative count": (with_fields(GOOD, record_count=-1, last_offset_delta=-2), InvalidRecord),
    "a count unlike the last delta": (with_fields(GOOD, last_offset_delta=7), InvalidRecord),
    "more records than counted": (with_fields(GOOD, record_count=3, last_offset_delta=2), InvalidRecord),
    "fewer records than counted": (with_fields(GOOD, record_count=5, last_offset_delta=4), InvalidRecord),
    "a count of two billion": (with_fields(GOOD, record_count=2**31 - 1, last_offset_delta=2**31 - 2), InvalidRecord),
    "a control batch": (with_fields(GOOD, attributes=0x30), InvalidRecord),
    "a delete horizon": (with_fields(GOOD, attributes=0x40), InvalidRecord),
    "unknown attributes": (with_fields(GOOD, attributes=-32768), InvalidRecord),
    "log-append time": (with_fields(GOOD, attributes=0x08), InvalidTimestamp),
    "a producer without a sequence": (with_fields(GOOD, producer_id=9, producer_epoch=0), InvalidRecord),
    "a producer without an epoch": (with_fields(GOOD, producer_id=9, base_sequence=0), InvalidRecord),
    "plain records called gzip": (with_fields(GOOD, attributes=Codec.GZIP), InvalidRecord),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_kafka_refuses_is_refused(name: str) -> None:
    batch, error = WRONG[name]
    with pytest.raises(error) as refused:
        validate_batch(batch, LIMITS)
    assert isinstance(refused.value, BadBatch)
    assert isinstance(refused.value, LakestreamError)


@pytest.mark.parametrize("codec", CODED)
@pytest.mark.parametrize("count", [3, 5, 2**31 - 1])
def test_a_wrong_count_is_found_inside_a_compressed_batch(codec: Codec, count: int) -> None:
    lying = with_fields(one_batch(ROWS, codec), record_count=count, last_offset_delta=count - 1)
    with pytest.raises(InvalidRecord):
        validate_batch(lying, LIMITS)


@pytest.mark.parametrize("codec", CODED)
def test_broken_records_are_found_inside_a_compressed_batch(codec: Codec) -> None:
    broken = with_records(one_batch(ROWS, codec), bytes(compress(codec, INNER_BYTES[:-1])))
    with pytest.raises(InvalidRecord):
        validate_batch(broken, LIMITS)


@pytest.mark.parametrize("codec", CODED)
def test_a_bomb_is_too_large(codec: Codec) -> None:
    bomb = with_records(one_batch(ROWS, codec), bytes(compress(codec, bytes(2 << 20))))
    with pytest.raises(BatchTooLarge):
        validate_batch(bomb, replace(LIMITS, decompressed_bytes_max=1 << 20))


def test_the_bound_of_the_topic_counts_the_bytes_as_sent() -> None:
    assert validate_batch(GOOD, replace(LIMITS, batch_bytes_max=len(GOOD)))
    with pytest.raises(BatchTooLarge, match=r"max\.message\.bytes"):
        validate_batch(GOOD, replace(LIMITS, batch_bytes_max=len(GOOD) - 1))


def test_zstd_is_refused_for_requests_that_are_too_old_for_it() -> None:
    batch = one_batch(ROWS, Codec.ZSTD)
    assert validate_batch(batch, LIMITS)
    with pytest.raises(UnsupportedCompression, match="version 7"):
        validate_batch(batch, replace(LIMITS, allow_zstd=False))
    assert validate_batch(one_batch(ROWS, Codec.LZ4), replace(LIMITS, allow_zstd=False))


def test_linked_lz4_blocks_are_refused_because_java_consumers_could_not_read_them() -> None:
    linked = with_records(one_batch(ROWS, Codec.LZ4), bytes(cramjam.lz4.compress(INNER_BYTES, level=1)))
    with pytest.raises(InvalidRecord, match="linked"):
        validate_batch(linked, LIMITS)


def test_an_idempotent_or_transactional_batch_passes() -> None:
    assert validate_batch(with_fields(GOOD, producer_id=9, producer_epoch=0, base_sequence=0), LIMITS)
    assert validate_batch(with_fields(GOOD, producer_id=9, producer_epoch=0, base_sequence=0, attributes=0x10), LIMITS)


def at_times(*times: int) -> bytes:
    return one_batch([{**ROWS[0], "offset": i, "timestamp": time} for i, time in enumerate(times)])


@pytest.mark.parametrize("inner", [True, False])
def test_times_outside_of_what_the_topic_takes_are_refused(inner: bool) -> None:
    limits = replace(LIMITS, timestamp_before_max_ms=1000, timestamp_after_max_ms=100, inner=inner)
    assert validate_batch(at_times(NOW_MS - 1000, NOW_MS + 100), limits)
    assert validate_batch(at_times(-1, -1), limits).max_timestamp_ms == -1
    for wrong in (NOW_MS - 1001, NOW_MS + 101, -2, 0):
        with pytest.raises(InvalidTimestamp):
            validate_batch(at_times(wrong), limits)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.SNAPPY])
def test_records_with_wrong_times_are_named(codec: Codec) -> None:
    rows = [{**ROWS[0], "offset": i, "timestamp": NOW_MS} for i in range(500)]
    rows[7]["timestamp"] = NOW_MS + 3_600_001
    rows[9]["timestamp"] = -2
    with pytest.raises(InvalidTimestamp) as refused:
        validate_batch(one_batch(rows, codec), LIMITS)
    assert [error.batch_index for error in refused.value.record_errors] == [7, 9]
    with pytest.raises(InvalidTimestamp) as refused:
        validate_batch(one_batch([{**row, "timestamp": 2**62} for row in rows], codec), LIMITS)
    assert len(refused.value.record_errors) == RECORD_ERRORS_MAX


def test_a_header_that_misstates_its_greatest_time_is_corrected_not_refused() -> None:
    for claimed in (0, -1, 2**62):
        assert validate_batch(with_fields(GOOD, max_timestamp_ms=claimed), LIMITS).max_timestamp_ms == NOW_MS + 9


def test_without_the_walk_the_header_is_believed() -> None:
    limits = replace(LIMITS, inner=False)
    valid = validate_batch(with_records(GOOD, b"anything at all"), limits)
    assert (valid.max_timestamp_ms, valid.has_null_key) == (NOW_MS + 9, None)
    with pytest.raises(CorruptBatch):
        validate_batch(GOOD[:-1] + b"?", limits)
