"""Batch headers of a partition as they come over the wire, without any client library in between.

A client that silently stopped compressing, or sent without a producer id, would still read back
its own records; only the batch header tells.
"""

import socket
import struct
from dataclasses import dataclass

import crc32c

from .clients.client import ANSWER_S_MAX, CODECS

FETCH, VERSION = 1, 4
BYTES_MAX = 8 << 20
HEADER = struct.Struct(">qiibIhiqqqhii")
CRC_COVERS_FROM = 21  # attributes to the end of the batch


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchHeader:
    base_offset: int
    record_count: int
    codec: str
    log_append_time: bool
    max_timestamp_ms: int
    producer_id: int
    base_sequence: int
    crc_is_right: bool


def fetch_batch_headers(bootstrap: str, topic: str, partition: int) -> list[BatchHeader]:
    """Every batch of a small partition, from offset 0."""
    name = topic.encode()
    body = struct.pack(">iiiibi", -1, 500, 1, BYTES_MAX, 0, 1) + struct.pack(">h", len(name)) + name
    body += struct.pack(">iiqi", 1, partition, 0, BYTES_MAX)
    request = struct.pack(">hhih", FETCH, VERSION, 7, -1) + body
    host, port = bootstrap.rsplit(":", 1)
    with socket.create_connection((host, int(port)), ANSWER_S_MAX) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        with connection.makefile("rb") as stream:
            (length,) = struct.unpack(">i", stream.read(4))
            return _headers(_records(stream.read(length), len(name)))


def _records(answer: bytes, name_bytes: int) -> bytes:
    at = 4 + 4 + 4 + 2 + name_bytes + 4  # correlation id, throttle, topics, name, partitions
    _, error, _, _, aborted = struct.unpack_from(">ihqqi", answer, at)
    assert error == 0, f"fetch answered error {error}"
    at += 26 + max(aborted, 0) * 16
    (length,) = struct.unpack_from(">i", answer, at)
    return answer[at + 4 : at + 4 + length]


def _headers(records: bytes) -> list[BatchHeader]:
    found, at = [], 0
    while at < len(records):
        base, length, _, magic, crc, attributes, _, _, latest, producer, _, sequence, count = HEADER.unpack_from(
            records, at
        )
        end = at + 12 + length
        assert magic == 2
        found.append(
            BatchHeader(
                base_offset=base,
                record_count=count,
                codec=CODECS[attributes & 7],
                log_append_time=bool(attributes & 8),
                max_timestamp_ms=latest,
                producer_id=producer,
                base_sequence=sequence,
                crc_is_right=crc32c.crc32c(records[at + CRC_COVERS_FROM : end]) == crc,
            )
        )
        at = end
    return found
