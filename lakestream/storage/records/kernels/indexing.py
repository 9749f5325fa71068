"""Lists a run of batches in a table: where each begins, and what its header says."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, call-overload, unreachable"

import numpy as np

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
    MAGIC,
    MAGIC_AT,
    MAX_TIMESTAMP_AT,
    RECORD_COUNT_AT,
)
from lakestream.storage.records.kernels.compiling import kernel
from lakestream.world.compiled.compiling import small

# Columns of the table that index_batches fills, one row per batch.
AT, BODY, END, CRC, COUNT, BASE_OFFSET, BASE_TIMESTAMP, MAX_TIMESTAMP, ATTRIBUTES = range(9)
INDEX_COLUMNS = 9


@small
def _big_endian(buffer, at, size):
    value = np.int64(np.int8(buffer[at]))
    for k in range(1, size):
        value = (value << 8) | np.int64(buffer[at + k])
    return value


@kernel
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
