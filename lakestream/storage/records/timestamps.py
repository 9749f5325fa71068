"""Lookups by time inside one batch: exact, on the record, as ListOffsets promises.

The index finds the batch by its greatest time. This module opens it, decompresses it if need be, and scans its records'
times in one compiled pass that skips keys and values. With log-append time, all records of a batch have the same time
and the batch is not opened.
"""

from typing import NamedTuple

from lakestream.storage.records.arrays import as_array
from lakestream.storage.records.compression import decompress, known_codec
from lakestream.storage.records.errors import CorruptBatch
from lakestream.storage.records.faults import OK, SENTENCES
from lakestream.storage.records.header import HEADER_BYTES, BatchHeader, Bytes, read_header
from lakestream.storage.records.kernels.limits import INT64_MAX
from lakestream.storage.records.kernels.timing import find_times


class Found(NamedTuple):
    """A record, by its place in the batch, and its time."""

    offset_delta: int
    timestamp_ms: int


def first_at_or_after(batch: Bytes, timestamp_ms: int, *, bytes_max: int, from_delta: int = 0) -> Found | None:
    """The first record, by offset and from `from_delta` on, whose time is `timestamp_ms` or later."""
    header = read_header(batch)
    if header.is_log_append_time:
        return Found(from_delta, header.max_timestamp_ms) if header.max_timestamp_ms >= timestamp_ms else None
    found, _ = _scan(batch, header, from_delta, timestamp_ms, bytes_max)
    return found


def max_timestamp(batch: Bytes, *, bytes_max: int, from_delta: int = 0) -> Found | None:
    """The first record, from `from_delta` on, that has the greatest time there; None where there is no record."""
    header = read_header(batch)
    if header.is_log_append_time:
        return Found(from_delta, header.max_timestamp_ms)
    _, latest = _scan(batch, header, from_delta, INT64_MAX, bytes_max)
    return latest


def _scan(
    batch: Bytes, header: BatchHeader, from_delta: int, at_least: int, bytes_max: int
) -> tuple[Found | None, Found | None]:
    compressed = memoryview(batch)[HEADER_BYTES : header.total_bytes]
    records = decompress(known_codec(header.codec_number), compressed, bytes_max=bytes_max)
    fault, record, delta, time, max_delta, max_time = find_times(
        as_array(records), 0, len(records), header.record_count, header.base_timestamp_ms, from_delta, at_least
    )
    if fault != OK:
        raise CorruptBatch(f"record {record}: {SENTENCES[fault]}")
    return Found(delta, time) if delta >= 0 else None, Found(max_delta, max_time) if max_delta >= 0 else None
