"""Record batches in plain Python, for the commands: built from lines, read into records.

Commands handle records that people type and read. A Python loop per record is fast enough for that, and saves the
second that the compiled codec takes to load.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lakestream.cli.failures import CommandFailed
from lakestream.storage.records.compression import compress, decompress, known_codec
from lakestream.storage.records.header import (
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    NO_PRODUCER,
    BatchHeader,
    Codec,
    batch_bytes,
    crc_of,
    pack_header,
    read_header,
)

_BATCH_BYTES_MAX = 256 * 1024 * 1024

Header = tuple[str, bytes | None]


class ConsumedRecord(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Sequence[Header] = ()
    timestamp_ms: int = -1
    offset: int = -1


def build_batch(records: Sequence[ConsumedRecord], codec: Codec) -> bytes:
    """One batch, as a producer sends it."""
    base_ms = records[0].timestamp_ms
    body = bytearray()
    for delta, record in enumerate(records):
        _put_record(body, record, delta, record.timestamp_ms - base_ms)
    packed = bytes(compress(codec, bytes(body)))
    header = BatchHeader(
        base_offset=0,
        batch_length=HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(packed),
        leader_epoch=-1,
        magic=MAGIC,
        crc=0,
        attributes=codec,
        last_offset_delta=len(records) - 1,
        base_timestamp_ms=base_ms,
        max_timestamp_ms=max(record.timestamp_ms for record in records),
        producer_id=NO_PRODUCER,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=len(records),
    )
    return pack_header(header._replace(crc=crc_of(pack_header(header) + packed))) + packed


def read_batches(data: memoryview) -> Iterator[tuple[int, list[ConsumedRecord]]]:
    """(offset after the batch, its records) for each whole batch; a batch cut off at the end is left out."""
    at = 0
    while len(data) - at >= HEADER_BYTES and len(data) - at >= (size := batch_bytes(data, at)):
        batch = data[at : at + size]
        header = read_header(batch)
        if crc_of(batch) != header.crc:
            raise CommandFailed(f"the batch at offset {header.base_offset} arrived damaged: its checksum is wrong")
        records = [] if header.is_control else list(_records(header, batch[HEADER_BYTES:]))
        yield header.base_offset + header.last_offset_delta + 1, records
        at += size


def _records(header: BatchHeader, packed: memoryview) -> Iterator[ConsumedRecord]:
    body = memoryview(decompress(known_codec(header.codec_number), packed, bytes_max=_BATCH_BYTES_MAX))
    at = 0
    for _ in range(header.record_count):
        length, at = _varint(body, at)
        yield _read_record(header, body[at : at + length])
        at += length


def _read_record(header: BatchHeader, body: memoryview) -> ConsumedRecord:
    timestamp_delta, at = _varint(body, 1)
    offset_delta, at = _varint(body, at)
    key, at = _read_bytes(body, at)
    value, at = _read_bytes(body, at)
    count, at = _varint(body, at)
    headers: list[Header] = []
    for _ in range(count):
        name, at = _read_bytes(body, at)
        content, at = _read_bytes(body, at)
        headers.append(((name or b"").decode("utf-8", "replace"), content))
    own_ms = header.base_timestamp_ms + timestamp_delta
    return ConsumedRecord(
        key,
        value,
        headers,
        header.max_timestamp_ms if header.is_log_append_time else own_ms,
        header.base_offset + offset_delta,
    )


def _put_record(out: bytearray, record: ConsumedRecord, offset_delta: int, timestamp_delta: int) -> None:
    body = bytearray(b"\x00")
    body += _zigzag(timestamp_delta) + _zigzag(offset_delta)
    _put_bytes(body, record.key)
    _put_bytes(body, record.value)
    body += _zigzag(len(record.headers))
    for name, content in record.headers:
        _put_bytes(body, name.encode())
        _put_bytes(body, content)
    out += _zigzag(len(body)) + body


def _put_bytes(out: bytearray, content: bytes | None) -> None:
    out += _zigzag(-1 if content is None else len(content)) + (content or b"")


def _read_bytes(body: memoryview, at: int) -> tuple[bytes | None, int]:
    length, at = _varint(body, at)
    return (None, at) if length < 0 else (bytes(body[at : at + length]), at + length)


def _zigzag(number: int) -> bytes:
    value = number << 1 if number >= 0 else (-number << 1) - 1
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _varint(body: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = body[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
