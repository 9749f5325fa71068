"""Decodes batches to columns: appends every record of a run to Arrow's buffers."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

from lakestream.storage.records import faults
from lakestream.storage.records.header import LOG_APPEND_TIME_BIT
from lakestream.storage.records.kernels.bits import set_bit
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.storage.records.kernels.indexing import (
    ATTRIBUTES,
    BASE_OFFSET,
    BASE_TIMESTAMP,
    BODY,
    COUNT,
    END,
    MAX_TIMESTAMP,
)
from lakestream.storage.records.kernels.limits import RECORD_BYTES_MIN
from lakestream.storage.records.kernels.utf8 import is_utf8
from lakestream.storage.records.kernels.varints import int32, int64
from lakestream.world.compiled.compiling import apart, small
from lakestream.world.compiled.copying import copy

# State that decode_bodies carries from call to call: how far each output is filled, and how many nulls it holds.
ROWS, KEY_BYTES, VALUE_BYTES, KEY_NULLS, VALUE_NULLS = range(5)
HEADERS, HEADER_KEY_BYTES, HEADER_VALUE_BYTES, HEADER_NULLS = range(5, 9)
PROGRESS_COLUMNS = 9


@small
def _take(out, out_at, write, buffer, at, length):
    """Append bytes to an output, or only count them on the measuring pass. Returns whether there was room."""
    if write:
        if length > out.size - out_at:
            return False
        copy(out, out_at, buffer, at, length)
    return True


@apart
def _decode_headers(buffer, at, end, out, progress, write):
    """Append the headers of one record to the outputs: (fault, position behind them)."""
    count, at = int32(buffer, at, end)
    if at > end or count < 0 or count > (end - at) // 2:
        return faults.HEADER_COUNT, at
    row = progress[HEADERS]
    key_at = progress[HEADER_KEY_BYTES]
    value_at = progress[HEADER_VALUE_BYTES]
    if write and count >= out.header_key_offsets.size - row:
        return faults.NO_ROOM, at
    for _ in range(count):
        length, at = int32(buffer, at, end)
        if length < 0 or length > end - at:
            return faults.HEADER_KEY_LENGTH, at
        if not is_utf8(buffer, at, at + length):
            return faults.HEADER_KEY_TEXT, at
        if not _take(out.header_key_data, key_at, write, buffer, at, length):
            return faults.NO_ROOM, at
        key_at += length
        length, at = int32(buffer, at + length, end)
        if length < -1 or max(length, 0) > end - at:
            return faults.HEADER_VALUE_LENGTH, at
        if length >= 0:
            if not _take(out.header_value_data, value_at, write, buffer, at, length):
                return faults.NO_ROOM, at
            if write:
                set_bit(out.header_value_valid, row)
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


@apart
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
        length, at = int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH
        record_end = at + length
        time_delta, at = int64(buffer, at + 1, record_end)
        offset_delta, at = int32(buffer, at, record_end)
        if write:
            out.timestamp[row] = base_time if stamped else base_time + time_delta
            out.offset[row] = base_offset + offset_delta
        length, at = int32(buffer, at, record_end)
        if length < -1 or max(length, 0) > record_end - at:
            return faults.KEY_LENGTH
        if length >= 0:
            if not _take(out.key_data, key_at, write, buffer, at, length):
                return faults.NO_ROOM
            if write:
                set_bit(out.key_valid, row)
            key_at += length
            at += length
        else:
            progress[KEY_NULLS] += 1
        length, at = int32(buffer, at, record_end)
        if length < -1 or max(length, 0) > record_end - at:
            return faults.VALUE_LENGTH
        if length >= 0:
            if not _take(out.value_data, value_at, write, buffer, at, length):
                return faults.NO_ROOM
            if write:
                set_bit(out.value_valid, row)
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


@kernel
def decode_bodies(buffer, table, out, progress, write):
    """Append the records of every batch in `table` to the outputs: (fault, batch to blame).

    A first run without `write` leaves the needed sizes in `progress`, so that the outputs are made to measure. The
    writing pass checks its room all the same.
    """
    for batch in range(table.shape[0]):
        fault = _decode_body(buffer, table[batch], out, progress, write)
        if fault != faults.OK:
            return fault, batch
    return faults.OK, table.shape[0]
