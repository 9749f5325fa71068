"""The compiled loops over records: index, walk, times, decode, encode.

    record    = length attributes(0) timestamp-delta offset-delta key value header-count header*
    key,value = length bytes      (length -1: null)        every number a zig-zag varint
    header    = length utf-8 length bytes                  (value's length -1: null)

A kernel is kept on disk until a file of this folder changes, since the numbers that it is compiled with
stand in several of them (world/kernel_cache.py).

Numba checks no bounds, so this file does. Input is hostile until proven otherwise and needs no
padding behind it: a varint is never read past the end of its record, no length is believed before
it is compared with what is left, and a failed read returns a position past the end, which no later
comparison lets through. Nothing is written before its room is checked. Every kernel releases the GIL.

Input arrays are always read-only (see arrays.py): read-only and writable arrays are different types
to Numba, and each would be compiled separately.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"
# What Numba compiles is typed by Numba; the faces of these kernels in the other files are typed for people.

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from lakestream.storage.records import faults
from lakestream.storage.records.header import (
    ATTRIBUTES_AT,
    BASE_OFFSET_AT,
    BASE_TIMESTAMP_AT,
    BATCH_LENGTH_AT,
    CRC_AT,
    HEADER_BYTES,
    LAST_OFFSET_DELTA_AT,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    NO_TIMESTAMP,
    RECORD_COUNT_AT,
)
from lakestream.world.kernel_cache import kept_with

RECORD_BYTES_MIN = 7
"""Length, attributes, two deltas, two null lengths and a header count, a byte each."""
INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
RECORD_OVERHEAD_BYTES_MAX = 5 + 1 + 10 + 5 + 5 + 5 + 5
HEADER_OVERHEAD_BYTES_MAX = 5 + 5

# Columns of the table that index_batches fills, one row per batch.
AT, BODY, END, CRC, COUNT, BASE_OFFSET, BASE_TIMESTAMP, MAX_TIMESTAMP, ATTRIBUTES = range(9)
INDEX_COLUMNS = 9

# Columns of the table that encode_rows fills, one row per batch.
OUT_AT, OUT_END, OUT_COUNT, OUT_BASE_OFFSET, OUT_LAST_DELTA, OUT_BASE_TIMESTAMP, OUT_MAX_TIMESTAMP = range(7)
ENCODED_COLUMNS = 7

# What decode_bodies carries from call to call: how far each output is filled, and how many nulls it holds.
ROWS, KEY_BYTES, VALUE_BYTES, KEY_NULLS, VALUE_NULLS = range(5)
HEADERS, HEADER_KEY_BYTES, HEADER_VALUE_BYTES, HEADER_NULLS = range(5, 9)
PROGRESS_COLUMNS = 9


# An Arrow view: four numbers. Up to so many bytes lie in the view itself, from the second number on.
VIEW_LENGTH, VIEW_PREFIX, VIEW_BUFFER, VIEW_START = range(4)
VIEW_NUMBERS, VIEW_BYTES = 4, 16
VIEW_INLINE_BYTES = 12
BUFFER_ADDRESS, BUFFER_BYTES = range(2)


class Views(NamedTuple):
    """Values as Arrow's views. None at all where `Columns` has the values."""

    numbers: Any
    """Four for each value."""
    buffers: Any
    """Address and size of what they point into: of the views themselves, then of each buffer."""


class Columns(NamedTuple):
    """Records as Arrow's own buffers. Validity bitmaps of no length mean: nothing is null."""

    offset: Any
    timestamp: Any
    key_offsets: Any
    key_data: Any
    key_valid: Any
    value_offsets: Any
    value_data: Any
    value_valid: Any
    header_lists: Any
    header_key_offsets: Any
    header_key_data: Any
    header_value_offsets: Any
    header_value_data: Any
    header_value_valid: Any


class FirstBits(NamedTuple):
    """Where the bit of row 0 lies in each validity bitmap: slices of Arrow arrays start anywhere."""

    key: int
    value: int
    header_value: int


# Without NRT, Numba's reference counting: nothing here allocates, callers keep the arrays alive, and counting
# references whenever an array is handed to a small function made the walk twelve times slower.
_called = njit(nogil=True, _nrt=False)
_kept = kept_with(Path(__file__).parent)
_small = njit(nogil=True, _nrt=False, forceinline=True)


def _kernel(function: Callable[..., Any]) -> Any:
    return _kept(_called(function))


@intrinsic
def _copy(typingctx: Any, to: Any, to_at: Any, source: Any, source_at: Any, count: Any) -> Any:
    """memcpy between one-dimensional byte arrays: a loop or a slice assignment is far slower."""
    signature = types.void(to, types.int64, source, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, source, source_at, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        source_array = context.make_array(signature.args[2])(context, builder, source)
        to_pointer = builder.gep(to_array.data, [to_at])
        source_pointer = builder.gep(source_array.data, [source_at])
        cgutils.raw_memcpy(builder, to_pointer, source_pointer, count, 1)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def _copy_from(typingctx: Any, to: Any, to_at: Any, address: Any, count: Any) -> Any:
    """memcpy from an address: for values that lie in several buffers."""
    signature = types.void(to, types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, to_at, address, count = arguments
        to_array = context.make_array(signature.args[0])(context, builder, to)
        to_pointer = builder.gep(to_array.data, [to_at])
        source_pointer = builder.inttoptr(address, to_array.data.type)
        cgutils.raw_memcpy(builder, to_pointer, source_pointer, count, 1)
        return context.get_dummy_value()

    return signature, generate


@_small
def _long_varint(buffer, at, end, bytes_max):
    value = np.uint64(0)
    shift = np.uint64(0)
    stop = min(end, at + bytes_max)
    while at < stop:
        byte = np.uint64(buffer[at])
        at += 1
        if shift == np.uint64(63) and byte > np.uint64(1):
            break  # more than 64 bits
        value |= (byte & np.uint64(0x7F)) << shift
        if byte < np.uint64(128):
            return value, at
        shift += np.uint64(7)
    return np.uint64(0), end + 1


@_small
def _unsigned(buffer, at, end, bytes_max):
    """(value, position behind it); a position past `end` when there is no proper varint."""
    if at < end:
        byte = buffer[at]
        if byte < 128:
            return np.uint64(byte), at + 1
    if at + 1 < end:
        second = buffer[at + 1]
        if second < 128:
            return np.uint64(buffer[at] & np.uint8(0x7F)) | (np.uint64(second) << np.uint64(7)), at + 2
    return _long_varint(buffer, at, end, bytes_max)


@_small
def _int64(buffer, at, end):
    raw, after = _unsigned(buffer, at, end, 10)
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), after


@_small
def _int32(buffer, at, end):
    """As Kafka's readers, which throw on more than five bytes: what they cannot read is not let in."""
    raw, after = _unsigned(buffer, at, end, 5)
    if raw >> np.uint64(32):
        return np.int64(0), end + 1
    return np.int64(raw >> np.uint64(1)) ^ -np.int64(raw & np.uint64(1)), after


@_small
def _big_endian(buffer, at, size):
    value = np.int64(np.int8(buffer[at]))
    for k in range(1, size):
        value = (value << 8) | np.int64(buffer[at + k])
    return value


@_kernel
def _is_utf8(buffer, at, end):
    while at < end:
        lead = buffer[at]
        if lead < 0x80:
            at += 1
            continue
        low = 0x80
        high = 0xBF
        if 0xC2 <= lead <= 0xDF:
            more = 1
        elif 0xE0 <= lead <= 0xEF:
            more = 2
            if lead == 0xE0:
                low = 0xA0  # shorter forms exist
            elif lead == 0xED:
                high = 0x9F  # surrogates
        elif 0xF0 <= lead <= 0xF4:
            more = 3
            if lead == 0xF0:
                low = 0x90
            elif lead == 0xF4:
                high = 0x8F  # beyond the last code point
        else:
            return False
        if at + more >= end or buffer[at + 1] < low or buffer[at + 1] > high:
            return False
        for k in range(2, more + 1):
            if buffer[at + k] < 0x80 or buffer[at + k] > 0xBF:
                return False
        at += more + 1
    return True


@_kernel
def _walk_headers(buffer, at, end):
    """(fault, position) behind the headers of one record."""
    count, at = _int32(buffer, at, end)
    if at > end or count < 0 or count > (end - at) // 2:
        return faults.HEADER_COUNT, at
    for _ in range(count):
        length, at = _int32(buffer, at, end)
        if length < 0 or length > end - at:
            return faults.HEADER_KEY_LENGTH, at
        if not _is_utf8(buffer, at, at + length):
            return faults.HEADER_KEY_TEXT, at
        at += length
        length, at = _int32(buffer, at, end)
        if length < -1 or max(length, 0) > end - at:
            return faults.HEADER_VALUE_LENGTH, at
        at += max(length, 0)
    return faults.OK, at


@_kernel
def walk_records(buffer, at, end, count, base_timestamp):
    """Prove the structure of a producer's records: (fault, record, max time, min time, a key is null).

    Times of -1 mean none and do not count for the least.
    """
    max_time = np.int64(NO_TIMESTAMP)
    min_time = np.int64(INT64_MAX)
    null_key = False
    for record in range(count):
        if at >= end:
            return faults.TOO_FEW_RECORDS, record, max_time, min_time, null_key
        length, at = _int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH, record, max_time, min_time, null_key
        record_end = at + length
        if buffer[at] != 0:
            return faults.RECORD_ATTRIBUTES, record, max_time, min_time, null_key
        time_delta, at = _int64(buffer, at + 1, record_end)
        offset_delta, at = _int32(buffer, at, record_end)
        if offset_delta != record:
            return faults.OFFSET_DELTA, record, max_time, min_time, null_key
        key_length, at = _int32(buffer, at, record_end)
        if key_length < -1 or max(key_length, 0) > record_end - at:
            return faults.KEY_LENGTH, record, max_time, min_time, null_key
        null_key |= key_length < 0
        value_length, at = _int32(buffer, at + max(key_length, 0), record_end)
        if value_length < -1 or max(value_length, 0) > record_end - at:
            return faults.VALUE_LENGTH, record, max_time, min_time, null_key
        at += max(value_length, 0)
        if at + 1 == record_end and buffer[at] == 0:
            at += 1  # no headers: by far the most common
        else:
            fault, at = _walk_headers(buffer, at, record_end)
            if fault != faults.OK:
                return fault, record, max_time, min_time, null_key
            if at != record_end:
                return faults.RECORD_LEFTOVER, record, max_time, min_time, null_key
        time = base_timestamp + time_delta
        max_time = max(max_time, time)
        if time != NO_TIMESTAMP:
            min_time = min(min_time, time)
    if at != end:
        return faults.TRAILING_BYTES, count, max_time, min_time, null_key
    return faults.OK, count, max_time, min_time, null_key


@_kernel
def find_times(buffer, at, end, count, base_timestamp, from_delta, at_least):
    """(fault, record, delta and time of the first at or after `at_least`, delta and time of the first with the max).

    Records below `from_delta` do not count. A delta of -1 means that there is none.
    """
    found_delta = np.int64(-1)
    found_time = np.int64(NO_TIMESTAMP)
    max_delta = np.int64(-1)
    max_time = np.int64(NO_TIMESTAMP)
    for record in range(count):
        length, at = _int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH, record, found_delta, found_time, max_delta, max_time
        record_end = at + length
        time_delta, at = _int64(buffer, at + 1, record_end)
        offset_delta, at = _int32(buffer, at, record_end)
        if at > record_end or offset_delta < 0:
            return faults.OFFSET_DELTA, record, found_delta, found_time, max_delta, max_time
        at = record_end
        if offset_delta < from_delta:
            continue
        time = base_timestamp + time_delta
        if found_delta < 0 and time >= at_least:
            found_delta = offset_delta
            found_time = time
        if max_delta < 0 or time > max_time:
            max_delta = offset_delta
            max_time = time
    if at != end:
        return faults.TRAILING_BYTES, count, found_delta, found_time, max_delta, max_time
    return faults.OK, count, found_delta, found_time, max_delta, max_time


@_kernel
def index_batches(buffer, table):
    """List a run of batches in `table`, as far as it has rows: (fault, number of batches, position)."""
    at = 0
    batches = 0
    while at < buffer.size:
        if buffer.size - at < HEADER_BYTES:
            return faults.BATCH_LENGTH, batches, at
        if buffer[at + MAGIC_AT] != MAGIC:
            return faults.BATCH_MAGIC, batches, at
        size = _big_endian(buffer, at + BATCH_LENGTH_AT, 4) + LENGTH_OVERHEAD_BYTES
        if size < HEADER_BYTES or size > buffer.size - at:
            return faults.BATCH_LENGTH, batches, at
        count = _big_endian(buffer, at + RECORD_COUNT_AT, 4)
        if count < 0 or _big_endian(buffer, at + LAST_OFFSET_DELTA_AT, 4) < 0:
            return faults.BATCH_COUNT, batches, at
        if batches < table.shape[0]:
            row = table[batches]
            row[AT] = at
            row[BODY] = at + HEADER_BYTES
            row[END] = at + size
            row[CRC] = _big_endian(buffer, at + CRC_AT, 4) & 0xFFFF_FFFF
            row[COUNT] = count
            row[BASE_OFFSET] = _big_endian(buffer, at + BASE_OFFSET_AT, 8)
            row[BASE_TIMESTAMP] = _big_endian(buffer, at + BASE_TIMESTAMP_AT, 8)
            row[MAX_TIMESTAMP] = _big_endian(buffer, at + MAX_TIMESTAMP_AT, 8)
            row[ATTRIBUTES] = _big_endian(buffer, at + ATTRIBUTES_AT, 2)
        batches += 1
        at += size
    return faults.OK, batches, at


@_small
def _set_bit(bitmap, row):
    bitmap[row >> 3] |= np.uint8(1 << (row & 7))


@_small
def _has_bit(bitmap, row):
    return bitmap.size == 0 or (bitmap[row >> 3] >> np.uint8(row & 7)) & 1


@_small
def _take(out, out_at, write, buffer, at, length):
    """Copy bytes to the end of an output, or on the measuring pass just pass over them: whether there was room."""
    if write:
        if length > out.size - out_at:
            return False
        _copy(out, out_at, buffer, at, length)
    return True


@_kernel
def _decode_headers(buffer, at, end, out, progress, write):
    """(fault, position) behind the headers of one record, which are appended to the outputs."""
    count, at = _int32(buffer, at, end)
    if at > end or count < 0 or count > (end - at) // 2:
        return faults.HEADER_COUNT, at
    row = progress[HEADERS]
    key_at = progress[HEADER_KEY_BYTES]
    value_at = progress[HEADER_VALUE_BYTES]
    if write and count >= out.header_key_offsets.size - row:
        return faults.NO_ROOM, at
    for _ in range(count):
        length, at = _int32(buffer, at, end)
        if length < 0 or length > end - at:
            return faults.HEADER_KEY_LENGTH, at
        if not _is_utf8(buffer, at, at + length):
            return faults.HEADER_KEY_TEXT, at
        if not _take(out.header_key_data, key_at, write, buffer, at, length):
            return faults.NO_ROOM, at
        key_at += length
        length, at = _int32(buffer, at + length, end)
        if length < -1 or max(length, 0) > end - at:
            return faults.HEADER_VALUE_LENGTH, at
        if length >= 0:
            if not _take(out.header_value_data, value_at, write, buffer, at, length):
                return faults.NO_ROOM, at
            if write:
                _set_bit(out.header_value_valid, row)
            value_at += length
            at += length
        else:
            progress[HEADER_NULLS] += 1
        row += 1
        if write:
            out.header_key_offsets[row] = key_at
            out.header_value_offsets[row] = value_at
    progress[HEADERS] = row
    progress[HEADER_KEY_BYTES] = key_at
    progress[HEADER_VALUE_BYTES] = value_at
    return faults.OK, at


@_kernel
def _decode_body(buffer, batch, out, progress, write):
    at = batch[BODY]
    end = batch[END]
    count = batch[COUNT]
    row = progress[ROWS]
    if at < 0 or end > buffer.size or end < at or count < 0 or count > (end - at) // RECORD_BYTES_MIN:
        return faults.BATCH_COUNT
    if write and count >= out.key_offsets.size - row:
        return faults.NO_ROOM
    base_offset = batch[BASE_OFFSET]
    stamped = batch[ATTRIBUTES] & LOG_APPEND_TIME_BIT != 0
    base_time = batch[MAX_TIMESTAMP] if stamped else batch[BASE_TIMESTAMP]
    key_at = progress[KEY_BYTES]
    value_at = progress[VALUE_BYTES]
    for _ in range(count):
        length, at = _int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH
        record_end = at + length
        time_delta, at = _int64(buffer, at + 1, record_end)
        offset_delta, at = _int32(buffer, at, record_end)
        if write:
            out.timestamp[row] = base_time if stamped else base_time + time_delta
            out.offset[row] = base_offset + offset_delta
        length, at = _int32(buffer, at, record_end)
        if length < -1 or max(length, 0) > record_end - at:
            return faults.KEY_LENGTH
        if length >= 0:
            if not _take(out.key_data, key_at, write, buffer, at, length):
                return faults.NO_ROOM
            if write:
                _set_bit(out.key_valid, row)
            key_at += length
            at += length
        else:
            progress[KEY_NULLS] += 1
        length, at = _int32(buffer, at, record_end)
        if length < -1 or max(length, 0) > record_end - at:
            return faults.VALUE_LENGTH
        if length >= 0:
            if not _take(out.value_data, value_at, write, buffer, at, length):
                return faults.NO_ROOM
            if write:
                _set_bit(out.value_valid, row)
            value_at += length
            at += length
        else:
            progress[VALUE_NULLS] += 1
        if at + 1 == record_end and buffer[at] == 0:
            at += 1  # no headers: by far the most common
        else:
            fault, at = _decode_headers(buffer, at, record_end, out, progress, write)
            if fault != faults.OK:
                return fault
            if at != record_end:
                return faults.RECORD_LEFTOVER
        row += 1
        if write:
            out.key_offsets[row] = key_at
            out.value_offsets[row] = value_at
            out.header_lists[row] = progress[HEADERS]
    if at != end:
        return faults.TRAILING_BYTES
    progress[ROWS] = row
    progress[KEY_BYTES] = key_at
    progress[VALUE_BYTES] = value_at
    return faults.OK


@_kernel
def decode_bodies(buffer, table, out, progress, write):
    """Append the records of every batch in `table` to the outputs: (fault, batch to blame).

    Run it once without `write` and `progress` tells how much room the outputs need, so that they are
    made to measure. The writing pass checks its room all the same.
    """
    for batch in range(table.shape[0]):
        fault = _decode_body(buffer, table[batch], out, progress, write)
        if fault != faults.OK:
            return fault, batch
    return faults.OK, table.shape[0]


@_small
def _zigzag(number):
    return np.uint64((number << np.int64(1)) ^ (number >> np.int64(63)))


@_small
def _varint_bytes(number):
    raw = _zigzag(number)
    size = 1
    while raw >= np.uint64(128):
        raw >>= np.uint64(7)
        size += 1
    return size


@_small
def _put(out, at, number):
    raw = _zigzag(number)
    while raw >= np.uint64(128):
        out[at] = np.uint8((raw & np.uint64(0x7F)) | np.uint64(0x80))
        raw >>= np.uint64(7)
        at += 1
    out[at] = np.uint8(raw)
    return at + 1


@_small
def _put_bytes(out, at, data, start, length):
    at = _put(out, at, length)
    if length > 0:
        _copy(out, at, data, start, length)
        at += length
    return at


@_small
def _length(offsets, bitmap, first_bit, row):
    if not _has_bit(bitmap, first_bit + row):
        return np.int64(-1)
    return np.int64(offsets[row + 1]) - np.int64(offsets[row])


@_small
def _view(views, bitmap, first_bit, row):
    """Length and address of a value in a column of Arrow's views. Without bytes the address is 0, -1 if it is wrong."""
    if not _has_bit(bitmap, first_bit + row):
        return np.int64(-1), np.int64(0)
    length = np.int64(views.numbers[row, VIEW_LENGTH])
    if length == 0:
        return length, np.int64(0)
    if length < 0:
        return length, np.int64(-1)
    if length <= VIEW_INLINE_BYTES:  # in the view itself, behind the length
        return length, np.int64(views.buffers[0, BUFFER_ADDRESS] + row * VIEW_BYTES + 4)
    buffer = np.int64(views.numbers[row, VIEW_BUFFER]) + 1
    start = np.int64(views.numbers[row, VIEW_START])
    if buffer < 1 or buffer >= views.buffers.shape[0] or start < 0:
        return length, np.int64(-1)
    if start + length > views.buffers[buffer, BUFFER_BYTES]:
        return length, np.int64(-1)
    return length, np.int64(views.buffers[buffer, BUFFER_ADDRESS] + start)


@_kernel
def plain_views(page, at, count, buffer, views, first):
    """Values one behind the other, each after its length in four bytes (Parquet's PLAIN), as Arrow's views on the page.
    Whether there are as many, and nothing else."""
    end = np.int64(page.size)
    for row in range(first, first + count):
        if at < 0 or end - at < 4:
            return False
        length = np.int64(_word(page, at, 4))
        at += 4
        if length < 0 or length > end - at:
            return False
        views[row, VIEW_LENGTH] = length
        if length > VIEW_INLINE_BYTES:
            views[row, VIEW_PREFIX] = _word(page, at, 4)
            views[row, VIEW_BUFFER] = buffer
            views[row, VIEW_START] = at
        else:
            for number in range(3):
                views[row, 1 + number] = _word(page, at + 4 * number, min(4, max(0, length - 4 * number)))
        at += length
    return at == end


@_small
def _word(page, at, count):
    """Up to four bytes, the lowest first."""
    word = np.uint32(0)
    for number in range(count):
        word |= np.uint32(page[at + number]) << np.uint32(8 * number)
    return np.int32(word)


@_kernel
def _headers_bytes(rows, first_bits, first, last):
    size = 0
    for header in range(first, last):
        key = np.int64(rows.header_key_offsets[header + 1]) - np.int64(rows.header_key_offsets[header])
        value = _length(rows.header_value_offsets, rows.header_value_valid, first_bits.header_value, header)
        size += _varint_bytes(key) + key + _varint_bytes(value) + max(value, 0)
    return size


@_kernel
def _put_headers(out, at, rows, first_bits, first, last):
    for header in range(first, last):
        start = np.int64(rows.header_key_offsets[header])
        length = np.int64(rows.header_key_offsets[header + 1]) - start
        at = _put_bytes(out, at, rows.header_key_data, start, length)
        start = np.int64(rows.header_value_offsets[header])
        length = _length(rows.header_value_offsets, rows.header_value_valid, first_bits.header_value, header)
        at = _put_bytes(out, at, rows.header_value_data, start, length)
    return at


@_kernel
def encode_rows(out, rows, views, first_bits, batch_bytes_max, table):
    """Write all rows as batches, each with a gap for its header: (fault, number of batches).

    A batch ends before it would exceed `batch_bytes_max`, but a single record always fits in one.
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
            value_at = np.int64(0)
            if views.numbers.shape[0]:
                value, value_at = _view(views, rows.value_valid, first_bits.value, row)
                if value_at < 0:
                    return faults.VALUE_LENGTH, batches
            else:
                value = _length(rows.value_offsets, rows.value_valid, first_bits.value, row)
            header = np.int64(rows.header_lists[row])
            headers = np.int64(rows.header_lists[row + 1]) - header
            size = (
                1 + _varint_bytes(time_delta) + _varint_bytes(offset_delta)
                + _varint_bytes(key) + max(key, 0) + _varint_bytes(value) + max(value, 0)
                + _varint_bytes(headers) + _headers_bytes(rows, first_bits, header, header + headers)
            )  # fmt: skip
            after = at + _varint_bytes(size) + size
            if row > first and (after - start > batch_bytes_max or offset_delta > INT32_MAX):
                break
            if after > out.size:
                return faults.NO_ROOM, batches
            at = _put(out, at, size)
            out[at] = 0
            at = _put(out, at + 1, time_delta)
            at = _put(out, at, offset_delta)
            at = _put_bytes(out, at, rows.key_data, np.int64(rows.key_offsets[row]), key)
            if value_at:
                at = _put(out, at, value)
                _copy_from(out, at, value_at, value)
                at += value
            else:
                at = _put_bytes(out, at, rows.value_data, np.int64(rows.value_offsets[row]), value)
            at = _put(out, at, headers)
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
