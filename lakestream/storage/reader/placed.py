"""Batches as the broker sends them: bytes as stored, with base offset and leader epoch written in front.

Both lie outside the batch's checksum, so the 16 bytes before the magic are replaced and the rest is sent from where it
lies. Only a log-append time changes bytes under the checksum, all of them in the header.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lakestream.model.errors import SegmentLost
from lakestream.model.place import Span
from lakestream.storage.records.header import (
    BATCH_LENGTH_AT,
    HEADER_BYTES,
    LAST_OFFSET_DELTA_AT,
    LENGTH_OVERHEAD_BYTES,
    PREFIX_BYTES,
    log_append_header,
    placed_prefix,
)
from lakestream.storage.records.run import Run
from lakestream.world.objects.store import Buffer

_I32 = struct.Struct(">i")


class PlacedBatch(NamedTuple):
    base_offset: int
    last_offset: int
    data: memoryview


def batches_of(span: Span, pieces: Sequence[memoryview]) -> Iterator[PlacedBatch]:
    """The batches of a span with their true offsets. A piece holds whole batches."""
    base = span.base_offset
    for piece in pieces:
        at = 0
        while at < len(piece):
            if len(piece) - at < HEADER_BYTES:
                raise SegmentLost(f"segment {span.segment} is cut short at byte {span.at}: restore the object")
            size = _I32.unpack_from(piece, at + BATCH_LENGTH_AT)[0] + LENGTH_OVERHEAD_BYTES
            last = base + _I32.unpack_from(piece, at + LAST_OFFSET_DELTA_AT)[0]
            if not HEADER_BYTES <= size <= len(piece) - at or last < base:
                raise SegmentLost(f"segment {span.segment} is damaged near byte {span.at}: restore the object")
            yield PlacedBatch(base, last, piece[at : at + size])
            base, at = last + 1, at + size
    if base != span.last_offset + 1:
        raise SegmentLost(
            f"segment {span.segment} holds offsets to {base - 1} where the index says {span.last_offset}: "
            "restore the object"
        )


def run_from(
    span: Span,
    pieces: Sequence[memoryview],
    offset: int,
    bytes_max: int,
    *,
    at_least_one: bool,
    until: int | None = None,
) -> Run:
    """The span's batches from the one that holds `offset` to `until`, as many as fit into `bytes_max`."""
    parts: list[Buffer] = []
    total, next_offset = 0, offset
    for base, last, data in batches_of(span, pieces):
        if last < offset:
            continue
        if total + len(data) > bytes_max and not (at_least_one and not parts):
            break
        if until is not None and base >= until:
            break
        prefix = placed_prefix(base, len(data) - LENGTH_OVERHEAD_BYTES)
        if span.append_ms < 0:
            parts += prefix, data[PREFIX_BYTES:]
        else:
            header = log_append_header(data, span.append_ms)
            header[:PREFIX_BYTES] = prefix
            parts += header, data[HEADER_BYTES:]
        total += len(data)
        next_offset = last + 1
    return Run(parts, total, next_offset)
