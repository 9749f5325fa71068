"""Reads the topic's side: batches as any consumer gets them, decoded to Arrow and hashed, one fetch at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.model.errors import LakestreamError
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.errors import BadBatch
from lakestream.storage.records.header import HEADER_BYTES, NO_TIMESTAMP, BatchHeader, read_header
from lakestream.table.verify.appended import AppendedStretches
from lakestream.table.verify.digest import Digests, add_hashes
from lakestream.table.verify.hashing import record_hashes
from lakestream.table.verify.rows import PLACE_BYTES, Range

DECODED_BYTES_MAX = 1 << 30
"""The decompressed size of one fetch."""


class RecordSource(Protocol):
    """A topic, as its consumers see it. Both methods raise LakestreamError with the broker's message."""

    def fetch(self, partition: int, offset: int) -> memoryview | None:
        """Whole batches, the first of which holds `offset` or comes after it. None if the offset is out of range."""
        ...

    def earliest(self, partition: int) -> int: ...


class Hashes(NamedTuple):
    offsets: NDArray[np.int64]
    hashes: NDArray[np.int64]


@dataclass(kw_only=True)
class TopicSide:
    """The records read of a topic. If `read` is less than requested, `problems` gives the reasons."""

    digests: Digests = field(default_factory=dict)
    read: dict[int, Range] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    appended: dict[int, int] = field(default_factory=dict)
    """By partition, how many of the records are rows that engines appended. They have no digest."""


def read_topic(
    source: RecordSource, ranges: dict[int, Range], appended: AppendedStretches, advance: Callable[[int], None]
) -> TopicSide:
    """Read all records of the ranges, by partition. `advance` receives the number of finished offsets."""
    side = TopicSide()
    for partition, range in ranges.items():
        side.read[partition] = Range(range.start, range.start)
        try:
            for after, found in hashes_of(source, partition, range):
                inserted = appended.among(partition, found.offsets)
                side.appended[partition] = side.appended.get(partition, 0) + int(inserted.sum())
                add_hashes(side.digests, partition, found.offsets[~inserted], found.hashes[~inserted])
                side.read[partition] = Range(range.start, after)
                advance(len(found.offsets))
        except LakestreamError as error:
            at = side.read[partition].end
            side.problems.append(f"partition {partition} cannot be read from offset {at} on: {error}")
    return side


def hashes_of(source: RecordSource, partition: int, range: Range) -> Iterator[tuple[int, Hashes]]:
    """For each fetch: (offset up to which everything was read, hashes of the new records)."""
    at = range.start
    while at < range.end:
        data = source.fetch(partition, at)
        if data is None:
            after = source.earliest(partition)  # records were deleted while we read
            found = _NONE
        else:
            after, found = _within(data, Range(at, range.end))
        if after <= at:
            raise _Silent(f"there is nothing, though the table goes on to offset {range.end}")
        at = min(after, range.end)
        yield at, found


class _Silent(LakestreamError):
    """The topic ends before the expected offset."""


def _within(data: memoryview, range: Range) -> tuple[int, Hashes]:
    after, rows = range.start, []
    for header, at in _batches(data):
        after = header.base_offset + header.last_offset_delta + 1
        rows.append((header, at))
    if not rows:
        return after, _NONE
    found = [_hashed(batch) for batch in _decoded(data, rows)]
    offsets = np.concatenate([one.offsets for one in found])
    wanted = (offsets >= range.start) & (offsets < range.end)
    return after, Hashes(offsets[wanted], np.concatenate([one.hashes for one in found])[wanted])


def _batches(data: memoryview) -> Iterator[tuple[BatchHeader, int]]:
    at = 0
    while len(data) - at >= HEADER_BYTES and len(data) - at >= (header := read_header(data, at)).total_bytes:
        yield header, at
        at += max(header.total_bytes, HEADER_BYTES)


def _decoded(data: memoryview, batches: list[tuple[BatchHeader, int]]) -> Iterator[pa.RecordBatch]:
    """Decode all in one call. If one of them is unreadable, decode each by itself."""
    last, at = batches[-1]
    try:
        yield decode_batches(data[: at + last.total_bytes], bytes_max=DECODED_BYTES_MAX)
        return
    except BadBatch:
        pass
    for header, at in batches:
        batch = data[at : at + header.total_bytes]
        try:
            yield decode_batches(batch, bytes_max=DECODED_BYTES_MAX)
        except BadBatch:
            yield _as_row(header, batch)


def _as_row(header: BatchHeader, batch: memoryview) -> pa.RecordBatch:
    """An unreadable batch as the row that the table has for it."""
    columns = [[header.base_offset], [NO_TIMESTAMP], [None], [bytes(batch[PLACE_BYTES:])], [[]]]
    return pa.record_batch([pa.array(*each) for each in zip(columns, SCHEMA.types, strict=True)], schema=SCHEMA)


def _hashed(rows: pa.RecordBatch) -> Hashes:
    return Hashes(rows.column("offset").to_numpy(), record_hashes(rows))


_NONE = Hashes(np.empty(0, np.int64), np.empty(0, np.int64))
