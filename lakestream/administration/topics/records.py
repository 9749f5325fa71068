"""Read a few records of a topic for people: key, value, headers, the decoded value, and the place that served each.

    from an offset, a time or the end -> views of the partition -> batches -> rows -> those that contain the words asked

Each look is bounded in rows, bytes and scanned records; `next_offset` says where the following look goes on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from lakestream.administration.named_topics import named_topics
from lakestream.administration.topics.values import DecodedValue, RecordValues
from lakestream.broker.offsets import Offsets
from lakestream.metadata.store import MetadataStore, ViewAsk
from lakestream.model.errors import InvalidRequest, ObjectMissing, UnknownPartition
from lakestream.model.place import FileSpan, PartitionView, Span, Tail, is_inline
from lakestream.model.topic import PartitionId, Topic
from lakestream.storage.reader.reader import LogReader
from lakestream.storage.records.decode import SCHEMA, decode_batches
from lakestream.storage.records.header import batch_bytes, read_header
from lakestream.storage.records.run import Run
from lakestream.world.threads import Threads

RECORDS_MAX = 200
READ_BYTES_MAX = 1024 * 1024
"""Of one read; a look that filters makes several."""
SCANNED_MAX = 10_000
"""The most records that one look with a filter goes through."""
DECODED_BYTES_MAX = 64 * 1024 * 1024
_SPANS_MAX = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsAsk:
    """`offset`, `time_ms` or, if both are None, the end: the last records."""

    partition: int = 0
    offset: int | None = None
    time_ms: int | None = None
    limit: int = 50
    contains: str = ""
    """Only records whose key, value or headers contain these characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordPlaceShown:
    kind: str
    """table, wal, or inline: in the metadata store."""
    name: str
    """The file, or the segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRecord:
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    place: RecordPlaceShown
    decoded: DecodedValue


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsLook:
    topic: str
    partition: int
    partitions: int
    tail: Tail
    records: tuple[ShownRecord, ...]
    next_offset: int
    """Where the next look goes on."""
    scanned: int
    """How many records this look went through."""


@dataclass(slots=True)
class _Found:
    next_offset: int
    scanned: int = 0
    rows: list[tuple[dict[str, Any], RecordPlaceShown]] = field(default_factory=list)


class TopicRecords:
    def __init__(
        self, store: MetadataStore, reader: LogReader, offsets: Offsets, values: RecordValues, threads: Threads
    ) -> None:
        self._store = store
        self._reader = reader
        self._offsets = offsets
        self._values = values
        self._threads = threads

    async def look(self, name: str, ask: RecordsAsk) -> RecordsLook:
        """Raises UnknownTopic, UnknownPartition, InvalidRequest, and what reading raises."""
        [topic] = await named_topics(self._store, [name])
        if not 0 <= ask.partition < len(topic.partitions):
            raise UnknownPartition(f"topic '{name}' has partitions 0 to {len(topic.partitions) - 1}")
        if not 1 <= ask.limit <= RECORDS_MAX:
            raise InvalidRequest(f"ask for 1 to {RECORDS_MAX} records at once, not for {ask.limit}")
        partition = topic.partitions[ask.partition]
        tail = await self._offsets.tail(partition)
        found = await self._rows(partition, await self._start(partition, tail, ask), tail, ask)
        return RecordsLook(
            topic=name,
            partition=ask.partition,
            partitions=len(topic.partitions),
            tail=tail,
            records=await self._shown(topic, found),
            next_offset=found.next_offset,
            scanned=found.scanned,
        )

    async def _start(self, partition: PartitionId, tail: Tail, ask: RecordsAsk) -> int:
        if ask.offset is not None:
            return min(max(ask.offset, tail.log_start), tail.next_offset)
        if ask.time_ms is not None:
            found = await self._offsets.at_time(partition, ask.time_ms)
            return tail.next_offset if found.offset < 0 else found.offset
        return max(tail.log_start, tail.next_offset - (SCANNED_MAX if ask.contains else ask.limit))

    async def _rows(self, partition: PartitionId, start: int, tail: Tail, ask: RecordsAsk) -> _Found:
        """From the start until there are enough. A look from the end keeps the last ones."""
        from_end = ask.offset is None and ask.time_ms is None
        found = _Found(next_offset=start)
        while found.next_offset < tail.next_offset and found.scanned < SCANNED_MAX:
            view, run = await self._read(partition, found.next_offset)
            if not run.bytes:
                break
            rows = await self._threads.run(_decoded_rows, run, found.next_offset)
            found.scanned += len(rows)
            found.next_offset = run.next_offset
            for row in rows:
                if not _contains(row, ask.contains):
                    continue
                found.rows.append((row, _place(view.spans, row["offset"])))
                if not from_end and len(found.rows) >= ask.limit:
                    found.next_offset = row["offset"] + 1
                    return found
        found.rows = found.rows[-ask.limit :]
        return found

    async def _read(self, partition: PartitionId, offset: int) -> tuple[PartitionView, Run]:
        try:
            return await self._read_once(partition, offset)
        except ObjectMissing:  # the records have moved meanwhile
            return await self._read_once(partition, offset)

    async def _read_once(self, partition: PartitionId, offset: int) -> tuple[PartitionView, Run]:
        [view] = await self._store.views([ViewAsk(partition, offset, _SPANS_MAX)])
        if view is None:
            raise UnknownPartition("the partition was deleted")
        return view, await self._reader.read(view, offset, READ_BYTES_MAX, at_least_one=True)

    async def _shown(self, topic: Topic, found: _Found) -> tuple[ShownRecord, ...]:
        values = pa.array([row["value"] for row, _ in found.rows], pa.binary())
        decoded = await self._values.decoded(topic, values) if found.rows else []
        return tuple(
            ShownRecord(
                offset=row["offset"],
                timestamp_ms=row["timestamp"],
                key=row["key"],
                value=row["value"],
                headers=tuple((header["key"], header["value"]) for header in row["headers"]),
                place=place,
                decoded=value,
            )
            for (row, place), value in zip(found.rows, decoded, strict=True)
        )


def _decoded_rows(run: Run, offset: int) -> list[dict[str, Any]]:
    """Rows from `offset` on, without control records. These are few, and for people: a dict for each is good enough."""
    data = memoryview(b"".join(run.parts))
    at, kept = 0, []
    while at < len(data):
        size = batch_bytes(data, at)
        if not read_header(data[at : at + size]).is_control:
            kept.append(data[at : at + size])
        at += size
    rows = decode_batches(b"".join(kept), bytes_max=DECODED_BYTES_MAX) if kept else SCHEMA.empty_table()
    return [row for row in rows.to_pylist() if row["offset"] >= offset]


def _contains(row: dict[str, Any], words: str) -> bool:
    if not words:
        return True
    sought = words.encode()
    parts = [row["key"], row["value"], *(part for header in row["headers"] for part in header.values())]
    return any(sought in (part.encode() if isinstance(part, str) else part) for part in parts if part is not None)


def _place(spans: Sequence[Span | FileSpan], offset: int) -> RecordPlaceShown:
    [span] = [one for one in spans if one.base_offset <= offset <= one.last_offset]
    if isinstance(span, FileSpan):
        return RecordPlaceShown(kind="table", name=span.file)
    return RecordPlaceShown(kind="inline" if is_inline(span.segment) else "wal", name=span.segment)
