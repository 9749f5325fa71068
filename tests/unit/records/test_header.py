"""The batch header: read, written, patched, and refused where it is damaged."""

import subprocess
import sys

import pytest

from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.records.header import (
    ATTRIBUTES_AT,
    CRC_AT,
    HEADER_BYTES,
    LOG_APPEND_TIME_BIT,
    MAX_TIMESTAMP_AT,
    PREFIX_BYTES,
    BatchHeader,
    Codec,
    batch_bytes,
    crc_of,
    pack_header,
    placed_prefix,
    read_header,
    with_log_append_time,
)
from tests.unit.records.samples import NOW_MS, ROWS, one_batch, read_by_kafka_python, with_fields

FIELDS = BatchHeader(1, 2, 3, 2, 0xFFFF_FFFF, 0x14, 6, 7, 8, 9, 10, 11, 12)


def test_a_header_is_61_bytes_and_reads_back() -> None:
    packed = pack_header(FIELDS)
    assert len(packed) == 61
    assert read_header(b"??" + packed, 2) == FIELDS
    assert (FIELDS.total_bytes, FIELDS.codec_number) == (14, Codec.ZSTD)
    assert (FIELDS.is_transactional, FIELDS.is_control, FIELDS.is_log_append_time) == (True, False, False)


def test_fewer_bytes_than_a_header_are_corrupt() -> None:
    with pytest.raises(CorruptBatch):
        read_header(pack_header(FIELDS)[:-1])
    with pytest.raises(CorruptBatch):
        read_header(pack_header(FIELDS), 1)


def test_placing_a_batch_leaves_its_checksum_valid() -> None:
    batch = one_batch(ROWS)
    placed = placed_prefix(1 << 40, read_header(batch).batch_length, 0) + batch[PREFIX_BYTES:]
    assert crc_of(placed) == read_header(placed).crc
    assert read_header(placed).base_offset == 1 << 40
    assert batch_bytes(b"?" + placed, 1) == len(batch)


@pytest.mark.parametrize("codec", [Codec.NONE, Codec.GZIP])
def test_log_append_time_replaces_every_time_that_readers_see(codec: Codec) -> None:
    stamped = with_log_append_time(one_batch(ROWS, codec), NOW_MS + 77)
    assert crc_of(stamped) == read_header(stamped).crc
    assert read_header(stamped).is_log_append_time
    assert read_header(stamped).codec_number == codec
    assert {row["timestamp"] for row in read_by_kafka_python(stamped)} == {NOW_MS + 77}


def test_stamping_twice_is_stamping_last() -> None:
    batch = with_fields(one_batch(ROWS), base_offset=0)
    assert with_log_append_time(with_log_append_time(batch, 1), 2) == with_log_append_time(batch, 2)


@pytest.mark.parametrize("at", [CRC_AT, ATTRIBUTES_AT, ATTRIBUTES_AT + 1, MAX_TIMESTAMP_AT + 7, HEADER_BYTES, -1])
def test_a_batch_that_was_damaged_does_not_become_sound_by_being_stamped(at: int) -> None:
    """Also where the damage is in what is replaced: what else is damaged nobody knows."""
    damaged = bytearray(one_batch(ROWS))
    damaged[at] ^= LOG_APPEND_TIME_BIT
    stamped = with_log_append_time(damaged, NOW_MS)
    assert crc_of(stamped) != read_header(stamped).crc
    assert crc_of(stamped) ^ read_header(stamped).crc == crc_of(damaged) ^ read_header(damaged).crc


def test_reading_headers_does_not_load_the_compiler() -> None:
    code = "import sys, lakestream.storage.records.header; sys.exit('numba' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
