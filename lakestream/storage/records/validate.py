"""The gate: a producer's batch is accepted as sound, or refused with the error that Kafka would give.

    size and magic -> CRC -> claims of the header -> contents of the records

Cheap checks come first, and nothing behind the CRC is believed before the CRC is checked. The bytes are not changed and
not copied; compressed records are decompressed within a bound, walked and dropped. If the topic has a codec of its own,
they are compressed again (recompress.py), and the result is the batch that is stored.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lakestream.storage.records.compression import decompress, known_codec, lz4_blocks_are_linked
from lakestream.storage.records.decode import decode_batches
from lakestream.storage.records.errors import (
    BatchTooLarge,
    CorruptBatch,
    InvalidRecord,
    InvalidTimestamp,
    RecordError,
    UnsupportedCompression,
)
from lakestream.storage.records.header import (
    CODEC_MASK,
    CONTROL_BIT,
    HEADER_BYTES,
    KNOWN_BITS,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    NO_TIMESTAMP,
    BatchHeader,
    Bytes,
    Codec,
    crc_of,
    read_header,
)
from lakestream.storage.records.recompress import recompressed
from lakestream.storage.records.walk import check_records

RECORD_ERRORS_MAX = 100
"""Records named in one refusal. A batch may hold a million; a person reading the answer needs a few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits set by the topic and the request."""

    batch_bytes_max: int
    decompressed_bytes_max: int
    now_ms: int
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    inner: bool = True
    """Walk the records; otherwise the header alone is checked and believed."""
    allow_zstd: bool = True
    """Produce requests before version 7 come from clients that cannot read it."""
    keys_required: bool = False
    """Every record must have a key. Needs `inner`."""
    codec: Codec | None = None
    """The codec for storage; None keeps the producer's. Needs `inner`."""


class ValidBatch(NamedTuple):
    """A batch that passed validation."""

    header: BatchHeader
    max_timestamp_ms: int
    """The true maximum, whatever the header says: retention and lookups by time depend on it."""
    has_null_key: bool | None
    """None when the records were not walked."""
    data: Bytes
    """The bytes to store: as received, or recompressed in the topic's codec."""


def validate_batch(buffer: Bytes, limits: Limits) -> ValidBatch:
    """Check everything that Kafka checks on produce. Raises a BadBatch."""
    header = _frame(buffer, limits.batch_bytes_max)
    _check_claims(header, limits)
    if not limits.inner:
        _check_times(header.base_timestamp_ms, header.max_timestamp_ms, buffer, limits)
        return ValidBatch(header, header.max_timestamp_ms, None, buffer)
    records = _opened_records(buffer, header, limits.decompressed_bytes_max)
    walked = check_records(records, count=header.record_count, base_timestamp_ms=header.base_timestamp_ms)
    _check_times(walked.min_timestamp_ms, walked.max_timestamp_ms, buffer, limits)
    if limits.keys_required and walked.has_null_key:
        raise InvalidRecord("a compacted topic takes no record without a key", _records_without_key(buffer, limits))
    data = buffer
    if limits.codec is not None and limits.codec != header.codec_number:
        data = recompressed(header, records, limits.codec, max_timestamp_ms=walked.max_timestamp_ms)
        _check_size(data, limits.batch_bytes_max)
    return ValidBatch(header, walked.max_timestamp_ms, walked.has_null_key, data)


def _frame(buffer: Bytes, batch_bytes_max: int) -> BatchHeader:
    """Check that the bytes are one whole, undamaged batch of format v2. Returns its header."""
    size = len(buffer)
    if size == 0:
        raise InvalidRecord("a produce request must hold one record batch for each partition; this one holds none")
    header = read_header(buffer)
    if header.magic != MAGIC:
        raise InvalidRecord(f"the batch has format v{header.magic}; only v2 is taken, so use a newer client")
    claimed = header.batch_length + LENGTH_OVERHEAD_BYTES
    if claimed > size or claimed < HEADER_BYTES:
        raise CorruptBatch(f"the batch says that it has {claimed} bytes, but {size} arrived: send it again")
    if claimed < size:
        raise InvalidRecord(f"{size - claimed} bytes follow the batch: send one batch for each partition")
    _check_size(buffer, batch_bytes_max)
    if crc_of(buffer) != header.crc:
        raise CorruptBatch(f"the batch does not match its checksum {header.crc:#010x}: send it again")
    return header


def _check_size(batch: Bytes, bytes_max: int) -> None:
    """Used for the received and for the stored batch: in another codec it may be larger."""
    if len(batch) > bytes_max:
        raise BatchTooLarge(f"the batch has {len(batch)} bytes, the topic takes {bytes_max} (max.message.bytes)")


def _check_claims(header: BatchHeader, limits: Limits) -> None:
    """Check that the header's fields are possible and allowed to a producer."""
    attributes = header.attributes
    codec = attributes & CODEC_MASK
    if codec > Codec.LZ4:
        _check_new_codec(codec, limits.allow_zstd)
    if attributes & LOG_APPEND_TIME_BIT:
        raise InvalidTimestamp("log-append time is set by the broker: send the time of creation")
    if attributes & CONTROL_BIT:
        raise InvalidRecord("control batches are written by the broker: send records")
    if attributes & ~KNOWN_BITS:
        raise InvalidRecord(
            f"the batch has attributes {attributes:#06x}, of which some bits are not a producer's to set"
        )
    if header.base_offset != 0:
        raise InvalidRecord(
            f"the batch has base offset {header.base_offset}: a producer sends 0, the log gives offsets"
        )
    if header.record_count <= 0 or header.last_offset_delta != header.record_count - 1:
        raise InvalidRecord(
            f"the batch counts {header.record_count} records but its last offset delta is {header.last_offset_delta}"
        )
    if header.producer_id >= 0 and (header.base_sequence < 0 or header.producer_epoch < 0):
        raise InvalidRecord(
            f"producer {header.producer_id} sent epoch {header.producer_epoch} and sequence {header.base_sequence}: "
            "an idempotent producer counts both from 0"
        )


def _check_new_codec(number: int, allow_zstd: bool) -> None:
    if known_codec(number) is Codec.ZSTD and not allow_zstd:
        raise UnsupportedCompression("zstd needs Produce version 7 or later: use a newer client, or another codec")


def _opened_records(buffer: Bytes, header: BatchHeader, decompressed_bytes_max: int) -> Bytes:
    """The records, decompressed if necessary."""
    codec = header.attributes & CODEC_MASK
    records = memoryview(buffer)[HEADER_BYTES:]
    if codec == Codec.NONE:
        return records
    if codec == Codec.LZ4 and lz4_blocks_are_linked(records):
        raise InvalidRecord("the batch has linked lz4 blocks, which Kafka clients cannot read: make them independent")
    return decompress(Codec(codec), records, bytes_max=decompressed_bytes_max)


def _check_times(least_ms: int, most_ms: int, buffer: Bytes, limits: Limits) -> None:
    """Check that the topic accepts the time of every record that has one."""
    earliest_ms, latest_ms = _times_taken(limits)
    if most_ms > latest_ms or (least_ms < earliest_ms and least_ms != NO_TIMESTAMP):
        raise InvalidTimestamp(
            f"times from {least_ms} to {most_ms} are outside of what the topic takes now, {earliest_ms} to {latest_ms}",
            _records_out_of_time(buffer, limits) if limits.inner else (),
        )


def _times_taken(limits: Limits) -> tuple[int, int]:
    return max(0, limits.now_ms - limits.timestamp_before_max_ms), limits.now_ms + limits.timestamp_after_max_ms


def _records_without_key(buffer: Bytes, limits: Limits) -> tuple[RecordError, ...]:
    keyless = np.flatnonzero(_opened(buffer, limits).column("key").is_null().to_numpy(zero_copy_only=False))
    return tuple(
        RecordError(index, "a compacted topic takes no record without a key")
        for index in keyless[:RECORD_ERRORS_MAX].tolist()
    )


def _records_out_of_time(buffer: Bytes, limits: Limits) -> tuple[RecordError, ...]:
    """The errors of the records whose times the topic refuses."""
    times = _opened(buffer, limits).column("timestamp").to_numpy()
    earliest_ms, latest_ms = _times_taken(limits)
    latest_ms = min(latest_ms, np.iinfo(np.int64).max)
    outside = np.flatnonzero(((times < earliest_ms) & (times != NO_TIMESTAMP)) | (times > latest_ms))
    return tuple(
        RecordError(index, f"time {time} is outside of {earliest_ms} to {latest_ms}")
        for index, time in zip(outside[:RECORD_ERRORS_MAX].tolist(), times[outside].tolist(), strict=False)
    )


def _opened(buffer: Bytes, limits: Limits) -> pa.RecordBatch:
    """The decoded records. Slow, and only done for a batch that is refused."""
    return decode_batches(buffer, bytes_max=max(len(buffer), limits.decompressed_bytes_max), check_crc=False)
