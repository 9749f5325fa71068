"""The mover: writes inline bytes of many flushes and partitions into one ordinary segment, where their spans then lie.

    oldest inline segments -> one object, by partition and offset -> one transaction: spans, bytes, fates

The offsets are known by now, so the object carries its own receipts: with the table files, it is all that the log would
be rebuilt from. Any number of movers may run at once. A span moves once, and an object that came too late is dead from
the start. A mover that dies between the object and the transaction leaves an unknown object, which the sweep removes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lakestream.metadata.store import MetadataStore
from lakestream.model.inline import InlineMove, InlineStretch, MovedSpan
from lakestream.model.place import SegmentId
from lakestream.storage.wal.segment import (
    BATCHES_AT,
    MAGIC,
    Receipt,
    SegmentEntry,
    SegmentFooter,
    encode_footer,
    segment_key,
)
from lakestream.world.clock import Clock
from lakestream.world.ids import Ids
from lakestream.world.objects.store import Buffer, ObjectStore

NO_BROKER = -1
"""The broker id in the footer: batches of many brokers lie in the segment."""
SEGMENTS_PER_MOVE_MAX = 5_000
"""Bounds a move of tiny flushes: its transaction holds up commits to their partitions."""
MOVES_MAX = 1_000
"""Bounds one call, which otherwise ends when all that is old enough has moved."""


class MoveMetrics(Protocol):
    def inline_moved(self, *, bytes: int, segments: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Mover:
    store: MetadataStore
    objects: ObjectStore
    bytes_max: int
    """The most inline bytes of one object."""
    clock: Clock
    ids: Ids
    metrics: MoveMetrics

    async def move_until(self, committed_ms: int) -> None:
        """Move all inline bytes that were committed up to this time, by the store's clock. Later ones may move too."""
        for _ in range(MOVES_MAX):
            oldest_ms = (await self.store.inline.at_rest()).oldest_ms
            if oldest_ms is None or oldest_ms > committed_ms:
                return
            await self._move_oldest()

    async def _move_oldest(self) -> None:
        stretch = await self.store.inline.oldest(bytes_max=self.bytes_max, segments_max=SEGMENTS_PER_MOVE_MAX)
        if not stretch.spans:
            return  # another mover was faster
        segment = self.ids.ulid()
        cluster_id = await self.store.cluster_id()
        parts, move = laid_out(stretch, segment=segment, cluster_id=cluster_id, created_ms=self.clock.wall_ms())
        await self.objects.put(segment_key(segment), parts)
        await self.store.inline.move(move)
        self.metrics.inline_moved(bytes=move.bytes, segments=len(stretch.data))


def laid_out(
    stretch: InlineStretch, *, segment: SegmentId, cluster_id: str, created_ms: int
) -> tuple[Sequence[Buffer], InlineMove]:
    """The object, in parts, and the move that makes it known. Bytes that no span refers to are left behind."""
    parts: list[Buffer] = [MAGIC]
    moved: list[MovedSpan] = []
    entries: list[SegmentEntry] = []
    receipts: list[Receipt] = []
    at = BATCHES_AT
    for home in stretch.spans:
        span = home.span
        if (data := stretch.data.get(span.segment)) is None:
            continue  # freed between the reads of the spans and of the bytes
        parts.append(memoryview(data)[span.at : span.at + span.length])
        moved.append(MovedSpan(home.partition, span.last_offset, span.segment, at))
        records = span.last_offset - span.base_offset + 1
        _add_entry(entries, SegmentEntry(home.topic_id, home.number, at, span.length, records, span.max_timestamp_ms))
        _add_receipt(
            receipts,
            Receipt(segment, home.topic_id, home.number, at, span.length, span.base_offset, records, span.append_ms),
        )
        at += span.length
    footer = encode_footer(
        SegmentFooter(
            cluster_id=cluster_id,
            broker_id=NO_BROKER,
            segment=segment,
            created_ms=created_ms,
            entries=entries,
            receipts=receipts,
        )
    )
    return [*parts, footer], InlineMove(segment=segment, bytes=at + len(footer), spans=moved)


def _add_entry(entries: list[SegmentEntry], entry: SegmentEntry) -> None:
    """One entry per partition: its batches lie side by side."""
    if not entries or entries[-1][:2] != entry[:2]:
        entries.append(entry)
        return
    run = entries[-1]
    entries[-1] = run._replace(
        length=run.length + entry.length,
        records=run.records + entry.records,
        max_timestamp_ms=max(run.max_timestamp_ms, entry.max_timestamp_ms),
    )


def _add_receipt(receipts: list[Receipt], receipt: Receipt) -> None:
    """One receipt per run of offsets with one append time."""
    if receipts and _continues(receipts[-1], receipt):
        run = receipts[-1]
        receipts[-1] = run._replace(length=run.length + receipt.length, records=run.records + receipt.records)
    else:
        receipts.append(receipt)


def _continues(run: Receipt, receipt: Receipt) -> bool:
    return (
        run[1:3] == receipt[1:3]
        and run.base_offset + run.records == receipt.base_offset
        and run.append_ms == receipt.append_ms
    )
