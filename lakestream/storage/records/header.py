"""The 61 bytes in front of every record batch (format v2, all big-endian).

     0  base offset      8   written as 0 by producers, patched as the batch is served
     8  batch length     4   bytes after this field
    12  leader epoch     4   patched as the batch is served
    16  magic            1   always 2
    17  crc              4   CRC-32C over everything that follows
    21  attributes       2   bits 0-2 codec, 3 log-append time, 4 transactional, 5 control, 6 delete horizon
    23  last offset delta 4
    27  base timestamp   8
    35  max timestamp    8
    43  producer id      8   -1: none
    51  producer epoch   2
    53  base sequence    4
    57  record count     4
    61  records, compressed together if the codec says so

The CRC does not cover the fields before it, so giving a batch its offset costs 16 bytes and no checksum.
"""

from enum import IntEnum
from struct import Struct
from typing import NamedTuple

from crc32c import crc32c

from lakestream.storage.records.carried import carried_crc
from lakestream.storage.records.errors import CorruptBatch

Bytes = bytes | bytearray | memoryview

HEADER_BYTES = 61
LENGTH_OVERHEAD_BYTES = 12
"""Bytes that `batch length` does not count: the base offset and the length itself."""
PREFIX_BYTES = 16
"""Base offset, batch length and leader epoch: the part that is patched as a batch is served."""
MAGIC = 2

BASE_OFFSET_AT = 0
BATCH_LENGTH_AT = 8
LEADER_EPOCH_AT = 12
MAGIC_AT = 16
CRC_AT = 17
ATTRIBUTES_AT = 21
LAST_OFFSET_DELTA_AT = 23
BASE_TIMESTAMP_AT = 27
MAX_TIMESTAMP_AT = 35
PRODUCER_ID_AT = 43
PRODUCER_EPOCH_AT = 51
BASE_SEQUENCE_AT = 53
RECORD_COUNT_AT = 57

CODEC_MASK = 0x07
LOG_APPEND_TIME_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
KNOWN_BITS = CODEC_MASK | LOG_APPEND_TIME_BIT | TRANSACTIONAL_BIT | CONTROL_BIT
"""The attributes that a producer may set or be refused for by name; only the log cleaner sets the delete horizon."""

NO_PRODUCER = -1
NO_TIMESTAMP = -1

_HEADER = Struct(">qiibIhiqqqhii")
_PREFIX = Struct(">qii")
_LENGTH = Struct(">i")
_CRC = Struct(">I")
_CRC_TO_TIMES = Struct(">Ihiqq")
_ATTRIBUTES_TO_TIMES = Struct(">hiqq")


class Codec(IntEnum):
    """How the records of a batch are compressed."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


class BatchHeader(NamedTuple):
    """The fields in the order they lie. A tuple: it is made once per batch on the way in and out."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def total_bytes(self) -> int:
        return self.batch_length + LENGTH_OVERHEAD_BYTES

    @property
    def codec_number(self) -> int:
        """The codec number as sent; it may name no known codec."""
        return self.attributes & CODEC_MASK

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & LOG_APPEND_TIME_BIT)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL_BIT)


def read_header(buffer: Bytes, at: int = 0) -> BatchHeader:
    """The header at a position. Nothing in it has been checked."""
    if len(buffer) - at < HEADER_BYTES:
        raise CorruptBatch(f"{len(buffer) - at} bytes are fewer than a batch header has ({HEADER_BYTES})")
    return BatchHeader._make(_HEADER.unpack_from(buffer, at))


def pack_header(header: BatchHeader) -> bytes:
    return _HEADER.pack(*header)


def batch_bytes(buffer: Bytes, at: int = 0) -> int:
    """The whole size of the batch at a position, according to its header."""
    length: int = _LENGTH.unpack_from(buffer, at + BATCH_LENGTH_AT)[0]
    return length + LENGTH_OVERHEAD_BYTES


def crc_of(batch: Bytes) -> int:
    """The CRC-32C that a batch's header should carry."""
    checksum: int = crc32c(memoryview(batch)[ATTRIBUTES_AT:])
    return checksum


def seal(batch: memoryview, header: BatchHeader) -> None:
    """Write a header in front of a batch's records, with the checksum of both."""
    _HEADER.pack_into(batch, 0, *header)
    _CRC.pack_into(batch, CRC_AT, crc_of(batch))


def placed_prefix(base_offset: int, batch_length: int, leader_epoch: int = 0) -> bytes:
    """The first 16 bytes of a batch, with its place in the log."""
    return _PREFIX.pack(base_offset, batch_length, leader_epoch)


def with_log_append_time(batch: Bytes, append_ms: int) -> bytes:
    """The batch as consumers of a log-append-time topic see it: the header replaced, the records unchanged."""
    return b"".join((log_append_header(batch, append_ms), memoryview(batch)[HEADER_BYTES:]))


def log_append_header(batch: Bytes, append_ms: int) -> bytearray:
    """The batch's header with time type and max timestamp replaced. Its CRC is right only if it was right before:
    storage may have damaged the records, and they are not checked here.

    The records keep the producer's deltas, which readers ignore for this time type.
    """
    header = bytearray(memoryview(batch)[:HEADER_BYTES])
    crc, attributes, last_offset_delta, base_ms, max_ms = _CRC_TO_TIMES.unpack_from(header, CRC_AT)
    stamped = attributes | LOG_APPEND_TIME_BIT
    change = _ATTRIBUTES_TO_TIMES.pack(attributes ^ stamped, 0, 0, max_ms ^ append_ms)
    crc = carried_crc(crc, change, len(batch) - PRODUCER_ID_AT)
    _CRC_TO_TIMES.pack_into(header, CRC_AT, crc, stamped, last_offset_delta, base_ms, append_ms)
    return header
