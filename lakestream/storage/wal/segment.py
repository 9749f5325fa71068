"""Segment format v1: one WAL object, the batches of many partitions of one flush of one broker.

    "LSG1" | batches, by partition | footer | crc32c(footer) u32 | footer length u32 | "LSG1"

All numbers big-endian. The footer is msgpack, so one ranged GET of the last 64 KiB reads it for any ordinary segment.
Receipts list the offsets that earlier segments of this broker were given: with them the bucket alone can rebuild the
log. The digit in the magic is the version.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import crc32c
import msgpack

from lakestream.model.errors import MalformedSegment
from lakestream.model.place import SegmentId
from lakestream.model.topic import TopicId
from lakestream.world.objects.store import Buffer

MAGIC = b"LSG1"
BATCHES_AT = len(MAGIC)
FOOTER_READ_BYTES = 64 * 1024
_TRAILER = struct.Struct(">II4s")
WAL_PREFIX = "wal/"
_SUFFIX = ".lsg"


class SegmentEntry(NamedTuple):
    """One partition's run of batches in this segment."""

    topic_id: TopicId
    partition: int
    at: int
    length: int
    records: int
    max_timestamp_ms: int


class Receipt(NamedTuple):
    """The offsets that a run of batches of an earlier segment was given."""

    segment: SegmentId
    topic_id: TopicId
    partition: int
    at: int
    length: int
    base_offset: int
    records: int
    append_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFooter:
    cluster_id: str
    broker_id: int
    segment: SegmentId
    created_ms: int
    entries: Sequence[SegmentEntry]
    receipts: Sequence[Receipt]


def segment_key(segment: SegmentId) -> str:
    """The object's key. The last two characters spread keys over prefixes, which helps object stores to scale."""
    return f"{WAL_PREFIX}{segment[-2:]}/{segment}{_SUFFIX}"


def segment_of_key(key: str) -> SegmentId | None:
    """The segment an object key stands for, or None if it is no segment's key."""
    segment = key.rpartition("/")[2].removesuffix(_SUFFIX)
    return segment if key == segment_key(segment) else None


def encode_footer(footer: SegmentFooter) -> bytes:
    """The footer, its checksum and length, and the closing magic."""
    packed = msgpack.packb(
        {
            "cluster": footer.cluster_id,
            "broker": footer.broker_id,
            "segment": footer.segment,
            "created_ms": footer.created_ms,
            "entries": footer.entries,
            "receipts": footer.receipts,
        }
    )
    return bytes(packed) + _TRAILER.pack(crc32c.crc32c(packed), len(packed), MAGIC)


def footer_bytes(tail: Buffer) -> int:
    """How many bytes footer and trailer take together, read from the object's last bytes."""
    return _read_trailer(memoryview(tail))[1] + _TRAILER.size


def decode_footer(tail: Buffer) -> SegmentFooter:
    """The footer, from the last bytes of a segment (at least `footer_bytes` of them). Raises MalformedSegment."""
    view = memoryview(tail)
    checksum, length = _read_trailer(view)
    end = len(view) - _TRAILER.size
    if length > end:
        raise MalformedSegment(f"the footer has {length} bytes, but only {end} were read")
    packed = view[end - length : end]
    if crc32c.crc32c(packed) != checksum:
        raise MalformedSegment("the footer's checksum does not match: the object is damaged")
    return _parse_footer(packed)


def _read_trailer(view: memoryview) -> tuple[int, int]:
    if len(view) < _TRAILER.size:
        raise MalformedSegment(f"{len(view)} bytes are too few for a segment")
    checksum, length, magic = _TRAILER.unpack_from(view, len(view) - _TRAILER.size)
    if magic != MAGIC:
        raise MalformedSegment(f"not a segment of version 1: it ends in {bytes(magic)!r} instead of {MAGIC!r}")
    return checksum, length


def _parse_footer(packed: memoryview) -> SegmentFooter:
    try:
        fields = msgpack.unpackb(packed)
        return SegmentFooter(
            cluster_id=fields["cluster"],
            broker_id=fields["broker"],
            segment=fields["segment"],
            created_ms=fields["created_ms"],
            entries=tuple(SegmentEntry(*entry) for entry in fields["entries"]),
            receipts=tuple(Receipt(*receipt) for receipt in fields["receipts"]),
        )
    except (ValueError, KeyError, TypeError, msgpack.UnpackException) as error:
        raise MalformedSegment(f"the footer cannot be read: {error!r}") from error
