"""The control batch that ends a transaction in a partition: one record, which clients read and never deliver.

    key    version (2) = 0, type (2): 0 abort, 1 commit        value    version (2) = 0, coordinator epoch (4) = 0

Everything in it follows from the marker's span, so its bytes are made whenever they are read.
"""

from functools import lru_cache
from struct import Struct

from lakestream.model.transaction import MARKER_BYTES, Marker
from lakestream.storage.records.header import (
    CONTROL_BIT,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    TRANSACTIONAL_BIT,
    BatchHeader,
    seal,
)

_RECORD = Struct(">bbbbbhhbhib")
"""Length, attributes, deltas of time and offset, key with its length, value with its length, count of headers. All
varints here are single bytes: twice the number."""
_RECORD_LENGTH = _RECORD.size - 1
_KEY_BYTES, _VALUE_BYTES = 4, 6
_KEPT_MAX = 256


@lru_cache(_KEPT_MAX)
def marker_batch(marker: Marker) -> bytes:
    """The batch with base offset 0, like every batch in the WAL."""
    batch = bytearray(MARKER_BYTES)
    _RECORD.pack_into(
        batch,
        HEADER_BYTES,
        2 * _RECORD_LENGTH,
        0,
        0,
        0,
        2 * _KEY_BYTES,
        0,
        int(marker.committed),
        2 * _VALUE_BYTES,
        0,
        0,
        0,
    )
    header = BatchHeader(
        base_offset=0,
        batch_length=MARKER_BYTES - LENGTH_OVERHEAD_BYTES,
        leader_epoch=0,
        magic=MAGIC,
        crc=0,
        attributes=TRANSACTIONAL_BIT | CONTROL_BIT,
        last_offset_delta=0,
        base_timestamp_ms=marker.written_ms,
        max_timestamp_ms=marker.written_ms,
        producer_id=marker.producer_id,
        producer_epoch=marker.epoch,
        base_sequence=-1,
        record_count=1,
    )
    seal(memoryview(batch), header)
    return bytes(batch)
