"""Searches a batch that passed validation for records by their times."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

from lakestream.storage.records import faults
from lakestream.storage.records.header import NO_TIMESTAMP
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.storage.records.kernels.limits import RECORD_BYTES_MIN
from lakestream.storage.records.kernels.varints import int32, int64


@kernel
def find_times(buffer, at, end, count, base_timestamp, from_delta, at_least):
    """(fault, record, delta and time of the first at or after `at_least`, delta and time of the first with the max).

    Records below `from_delta` do not count. A delta of -1 means that there is none.
    """
    found_delta = np.int64(-1)
    found_time = np.int64(NO_TIMESTAMP)
    max_delta = np.int64(-1)
    max_time = np.int64(NO_TIMESTAMP)
    for record in range(count):
        length, at = int32(buffer, at, end)
        if length < RECORD_BYTES_MIN - 1 or length > end - at:
            return faults.RECORD_LENGTH, record, found_delta, found_time, max_delta, max_time
        record_end = at + length
        time_delta, at = int64(buffer, at + 1, record_end)
        offset_delta, at = int32(buffer, at, record_end)
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
