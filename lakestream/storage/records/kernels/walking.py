"""Validates the records of a batch as a producer sent them."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.storage.records import faults
from lakestream.storage.records.header import NO_TIMESTAMP
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.storage.records.kernels.limits import INT64_MAX, RECORD_BYTES_MIN
from lakestream.storage.records.kernels.utf8 import is_utf8
from lakestream.storage.records.kernels.varints import int32, int64
from lakestream.world.compiled.compiling import apart


@apart
def _walk_headers(buffer, at, end):
    """(fault, position) behind the headers of one record."""
    count, at = int32(buffer, at, end)
    if at > end or count < 0 or count > (end - at) // 2:
        return faults.HEADER_COUNT, at
    for _ in range(count):
        length, at = int32(buffer, at, end)
        if length < 0 or length > end - at:
            return faults.HEADER_KEY_LENGTH, at
        if not is_utf8(buffer, at, at + length):
            return faults.HEADER_KEY_TEXT, at
        at += length
        length, at = int32(buffer, at, end)
        if length < -1 or max(length, 0) > end - at:
            return faults.HEADER_VALUE_LENGTH, at
        at += max(length, 0)
    return faults.OK, at


@kernel
def walk_records(buffer, at, end, count, base_timestamp):
    """Validate the structure of a producer's records: (fault, record, max time, min time, a key is null).

    Times of -1 mean none and do not count for the minimum.
    """
    max_time = np.int64(NO_TIMESTAMP)
    min_time = np.int64(INT64_MAX)
    null_key = False
    for record in range(count):
        if at >= end:
            return faults.TOO_FEW_RECORDS, record, max_time, min_time, null_key
        length, at = int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH, record, max_time, min_time, null_key
        record_end = at + length
        if buffer[at] != 0:
            return faults.RECORD_ATTRIBUTES, record, max_time, min_time, null_key
        time_delta, at = int64(buffer, at + 1, record_end)
        offset_delta, at = int32(buffer, at, record_end)
        if offset_delta != record:
            return faults.OFFSET_DELTA, record, max_time, min_time, null_key
        key_length, at = int32(buffer, at, record_end)
        if key_length < -1 or max(key_length, 0) > record_end - at:
            return faults.KEY_LENGTH, record, max_time, min_time, null_key
        null_key |= key_length < 0
        value_length, at = int32(buffer, at + max(key_length, 0), record_end)
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
