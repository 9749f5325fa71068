"""Encodes columns to batches: writes every record, with a gap for the header of each batch."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.storage.records import faults
from lakestream.storage.records.header import HEADER_BYTES
from lakestream.storage.records.kernels.bits import has_bit
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.storage.records.kernels.limits import INT32_MAX
from lakestream.storage.records.kernels.varints import put, varint_bytes
from lakestream.storage.records.kernels.views import view
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.copying import copy, copy_from

RECORD_OVERHEAD_BYTES_MAX = 5 + 1 + 10 + 5 + 5 + 5 + 5
HEADER_OVERHEAD_BYTES_MAX = 5 + 5

# Columns of the table that encode_rows fills, one row per batch.
OUT_AT, OUT_END, OUT_COUNT, OUT_BASE_OFFSET, OUT_LAST_DELTA, OUT_BASE_TIMESTAMP, OUT_MAX_TIMESTAMP = range(7)
ENCODED_COLUMNS = 7


@small
def _put_bytes(out, at, data, start, length):
    at = put(out, at, length)
    if length > 0:
        copy(out, at, data, start, length)
        at += length
    return at


@small
def _length(offsets, bitmap, first_bit, row):
    if not has_bit(bitmap, first_bit + row):
        return np.int64(-1)
    return np.int64(offsets[row + 1]) - np.int64(offsets[row])


@apart
def _headers_bytes(rows, first_bits, first, last):
    size = 0
    for header in range(first, last):
        key = np.int64(rows.header_key_offsets[header + 1]) - np.int64(rows.header_key_offsets[header])
        value = _length(rows.header_value_offsets, rows.header_value_valid, first_bits.header_value, header)
        size += varint_bytes(key) + key + varint_bytes(value) + max(value, 0)
    return size


@apart
def _put_headers(out, at, rows, first_bits, first, last):
    for header in range(first, last):
        start = np.int64(rows.header_key_offsets[header])
        length = np.int64(rows.header_key_offsets[header + 1]) - start
        at = _put_bytes(out, at, rows.header_key_data, start, length)
        start = np.int64(rows.header_value_offsets[header])
        length = _length(rows.header_value_offsets, rows.header_value_valid, first_bits.header_value, header)
        at = _put_bytes(out, at, rows.header_value_data, start, length)
    return at


@kernel
def encode_rows(out, rows, views, first_bits, batch_bytes_max, of_one_time, table):
    """Write all rows as batches, each with a gap for its header: (fault, number of batches).

    A batch ends before it would exceed `batch_bytes_max`, but a single record always fits in one; with `of_one_time`
    also where the time changes.
    """
    count = rows.offset.size
    batches = 0
    row = 0
    at = np.int64(0)
    while row < count:
        if out.size - at < HEADER_BYTES or batches >= table.shape[0]:
            return faults.NO_ROOM, batches
        start = at
        first = row
        base_offset = rows.offset[row]
        base_time = rows.timestamp[row]
        max_time = base_time
        at += HEADER_BYTES
        while row < count:
            offset_delta = rows.offset[row] - base_offset
            if row > first and rows.offset[row] <= rows.offset[row - 1]:
                return faults.OFFSET_DELTA, batches
            time_delta = rows.timestamp[row] - base_time
            key = _length(rows.key_offsets, rows.key_valid, first_bits.key, row)
            value_at = value_start = np.int64(0)
            if views.numbers.shape[0]:
                value, value_at = view(views, rows.value_valid, first_bits.value, row)
                if value_at < 0:
                    return faults.VALUE_LENGTH, batches
            else:
                value = _length(rows.value_offsets, rows.value_valid, first_bits.value, row)
                value_start = np.int64(rows.value_offsets[row])  # none when views are used: not even read
            header = np.int64(rows.header_lists[row])
            headers = np.int64(rows.header_lists[row + 1]) - header
            size = (
                1 + varint_bytes(time_delta) + varint_bytes(offset_delta)
                + varint_bytes(key) + max(key, 0) + varint_bytes(value) + max(value, 0)
                + varint_bytes(headers) + _headers_bytes(rows, first_bits, header, header + headers)
            )  # fmt: skip
            after = at + varint_bytes(size) + size
            if row > first and (
                after - start > batch_bytes_max or offset_delta > INT32_MAX or (of_one_time and time_delta != 0)
            ):
                break
            if after > out.size:
                return faults.NO_ROOM, batches
            at = put(out, at, size)
            out[at] = 0
            at = put(out, at + 1, time_delta)
            at = put(out, at, offset_delta)
            at = _put_bytes(out, at, rows.key_data, np.int64(rows.key_offsets[row]), key)
            if value_at:
                at = put(out, at, value)
                copy_from(out, at, value_at, value)
                at += value
            else:
                at = _put_bytes(out, at, rows.value_data, value_start, value)
            at = put(out, at, headers)
            at = _put_headers(out, at, rows, first_bits, header, header + headers)
            max_time = max(max_time, rows.timestamp[row])
            row += 1
        entry = table[batches]
        entry[OUT_AT] = start
        entry[OUT_END] = at
        entry[OUT_COUNT] = row - first
        entry[OUT_BASE_OFFSET] = base_offset
        entry[OUT_LAST_DELTA] = rows.offset[row - 1] - base_offset
        entry[OUT_BASE_TIMESTAMP] = base_time
        entry[OUT_MAX_TIMESTAMP] = max_time
        batches += 1
    return faults.OK, batches
