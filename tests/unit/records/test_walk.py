"""The walk: every way in which records can be wrong has its sentence."""

import pytest
from hypothesis import given

from lakestream.storage.records import faults
from lakestream.storage.records.errors import InvalidRecord
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.records.walk import Walked, check_records
from tests.unit.records.samples import Row, dense_rows, one_batch

LONG = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
"""A proper 64-bit varint, too long for a 32-bit one."""
TOO_LONG = b"\xff" * 10 + b"\x01"
SIX_BYTES_FOR_ZERO = b"\x80\x80\x80\x80\x80\x00"


def record(
    *,
    attributes: bytes = b"\x00",
    time: bytes = b"\x00",
    offset: bytes = b"\x00",
    key: bytes = b"\x01",
    value: bytes = b"\x01",
    headers: bytes = b"\x00",
) -> bytes:
    body = attributes + time + offset + key + value + headers
    assert len(body) < 64
    return bytes([len(body) * 2]) + body


WRONG = {
    "nothing": (b"", faults.TOO_FEW_RECORDS),
    "length of 0": (b"\x00", faults.RECORD_LENGTH),
    "length below the least": (b"\x0a\x00\x00\x00\x01\x01", faults.RECORD_LENGTH),
    "negative length": (b"\x01" + record()[1:], faults.RECORD_LENGTH),
    "length past the end": (b"\x0e" + record()[1:], faults.RECORD_LENGTH),
    "length of 2 GiB": (b"\xfe\xff\xff\xff\x0f" + record()[1:], faults.RECORD_LENGTH),
    "length in 64 bits": (LONG + record()[1:], faults.RECORD_LENGTH),
    "endless length": (b"\xff" * 30, faults.RECORD_LENGTH),
    "attributes": (record(attributes=b"\x01"), faults.RECORD_ATTRIBUTES),
    "endless time": (record(time=TOO_LONG), faults.KEY_LENGTH),
    "time of 65 bits": (record(time=b"\xff" * 9 + b"\x02"), faults.KEY_LENGTH),
    "offset": (record(offset=b"\x02"), faults.OFFSET_DELTA),
    "offset in six bytes": (record(offset=SIX_BYTES_FOR_ZERO), faults.KEY_LENGTH),
    "key length -2": (record(key=b"\x03"), faults.KEY_LENGTH),
    "key past the end": (record(key=b"\x7e"), faults.KEY_LENGTH),
    "key length in 64 bits": (record(key=LONG), faults.KEY_LENGTH),
    "value length -2": (record(value=b"\x03"), faults.VALUE_LENGTH),
    "value past the end": (record(value=b"\x7e"), faults.VALUE_LENGTH),
    "no header count": (record(value=b"\x02\x00", headers=b""), faults.HEADER_COUNT),
    "negative header count": (record(headers=b"\x01"), faults.HEADER_COUNT),
    "header count past the end": (record(headers=b"\x04\x00\x01"), faults.HEADER_COUNT),
    "header count of 2 GiB": (record(headers=b"\xfe\xff\xff\xff\x0f\x00\x01"), faults.HEADER_COUNT),
    "null header key": (record(headers=b"\x02\x01\x01"), faults.HEADER_KEY_LENGTH),
    "header key past the end": (record(headers=b"\x02\x7e\x01"), faults.HEADER_KEY_LENGTH),
    "header key cut in a character": (record(headers=b"\x02\x02\xc3\x01"), faults.HEADER_KEY_TEXT),
    "header key overlong": (record(headers=b"\x02\x04\xc0\x80\x01"), faults.HEADER_KEY_TEXT),
    "header key surrogate": (record(headers=b"\x02\x06\xed\xa0\x80\x01"), faults.HEADER_KEY_TEXT),
    "header key beyond unicode": (record(headers=b"\x02\x08\xf4\x90\x80\x80\x01"), faults.HEADER_KEY_TEXT),
    "header value -2": (record(headers=b"\x02\x00\x03"), faults.HEADER_VALUE_LENGTH),
    "header value past the end": (record(headers=b"\x02\x00\x7e"), faults.HEADER_VALUE_LENGTH),
    "bytes after the headers": (record(headers=b"\x00\x00"), faults.RECORD_LEFTOVER),
    "bytes after the last header": (record(headers=b"\x02\x00\x01\x00"), faults.RECORD_LEFTOVER),
    "bytes after the records": (record() + b"\x00", faults.TRAILING_BYTES),
    "another record": (record() + record(offset=b"\x02"), faults.TRAILING_BYTES),
}  # fmt: skip


def walk(records: bytes, count: int = 1, base_timestamp_ms: int = 0) -> Walked:
    return check_records(records, count=count, base_timestamp_ms=base_timestamp_ms)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_refused_with_its_reason(name: str) -> None:
    records, fault = WRONG[name]
    with pytest.raises(InvalidRecord) as refused:
        walk(records)
    assert faults.SENTENCES[fault] in str(refused.value)


def test_the_record_to_blame_is_named() -> None:
    with pytest.raises(InvalidRecord) as refused:
        walk(record() + record(offset=b"\x06"), count=2)
    assert refused.value.record_errors == ((1, faults.SENTENCES[faults.OFFSET_DELTA]),)


def test_fewer_records_than_counted_are_refused() -> None:
    with pytest.raises(InvalidRecord, match="before the count"):
        walk(record(), count=2)


def test_numbers_may_be_written_longer_than_need_be_within_their_width() -> None:
    assert walk(record(offset=b"\x80\x80\x80\x80\x00")).max_timestamp_ms == 0


@pytest.mark.parametrize("text", ["é", "߿", "ࠀ", "퟿", "", "￿", "𐀀", "􏿿", "a" * 20 + "ü"])
def test_header_keys_may_be_any_text(text: str) -> None:
    key = text.encode()
    walk(record(headers=b"\x02" + bytes([len(key) * 2]) + key + b"\x01"))


@given(rows=dense_rows(min_size=1))
def test_the_walk_finds_the_true_times_and_null_keys(rows: list[Row]) -> None:
    batch = one_batch(rows)
    times = [row["timestamp"] for row in rows]
    for data in (batch, memoryview(bytearray(batch))):
        walked = check_records(data, at=HEADER_BYTES, count=len(rows), base_timestamp_ms=times[0])
        assert walked.max_timestamp_ms == max(times)
        assert walked.min_timestamp_ms == min((time for time in times if time != -1), default=-1)
        assert walked.has_null_key == any(row["key"] is None for row in rows)
