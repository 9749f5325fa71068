"""The open segment: batches gathered in arrival order, then sealed into an image, grouped by partition.

A batch that a commit found out of order (its predecessor may be on its way through another broker)
is carried: it joins a later segment, ahead of newer batches, in sequence order.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lakestream.model.place import SegmentId
from lakestream.model.segment import SegmentBatch
from lakestream.storage.wal.batch import Pending, WalBatch
from lakestream.storage.wal.segment import BATCHES_AT, MAGIC, Receipt, SegmentEntry, SegmentFooter, encode_footer
from lakestream.world.objects.store import Buffer


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A segment ready to upload, or to commit inline: its bytes, and its batches in the order of their offsets."""

    segment: SegmentId
    content: Sequence[Buffer]
    """The batches' bytes. In an object a magic and a footer lie around them."""
    footer: Buffer | None
    """None: the segment is inline."""
    bytes: int
    pending: Sequence[Pending]
    batches: Sequence[SegmentBatch]
    receipts: Sequence[Receipt]

    @property
    def is_inline(self) -> bool:
        return self.footer is None

    @property
    def parts(self) -> Sequence[Buffer]:
        """The whole object."""
        assert self.footer is not None, "an inline segment is no object"
        return [MAGIC, *self.content, self.footer]

    @property
    def starts_at(self) -> int:
        """The position of the first batch."""
        return 0 if self.is_inline else BATCHES_AT


class SegmentBuffer:
    def __init__(self) -> None:
        self._fresh: list[Pending] = []
        self._carried: list[Pending] = []
        self.bytes = 0
        """Bytes of fresh batches: carried ones wait for their own moment and do not make a segment full."""

    def add(self, pending: Pending) -> None:
        self._fresh.append(pending)
        self.bytes += len(pending.batch.data)

    def carry(self, pending: Pending) -> None:
        self._carried.append(pending)

    def oldest(self) -> float | None:
        """When the oldest fresh batch was buffered."""
        return self._fresh[0].buffered_at if self._fresh else None

    def next_retry(self) -> float | None:
        return min((pending.retry_at for pending in self._carried), default=None)

    def take(self, now: float) -> list[Pending]:
        """Everything that should go into a segment now, grouped by partition, carried batches first."""
        due = [pending for pending in self._carried if pending.retry_at <= now]
        self._carried = [pending for pending in self._carried if pending.retry_at > now]
        due.sort(key=_sequence_order)
        taken, self._fresh, self.bytes = [*due, *self._fresh], [], 0
        taken.sort(key=_partition_of)  # stable: arrival order within a partition stays
        return taken

    def drain(self) -> list[Pending]:
        """Everything, carried or not, for a WAL that gives up on it."""
        drained, self._fresh, self._carried, self.bytes = [*self._carried, *self._fresh], [], [], 0
        return drained


def seal(
    pending: Sequence[Pending],
    receipts: Sequence[Receipt],
    *,
    segment: SegmentId,
    cluster_id: str,
    broker_id: int,
    created_ms: int,
) -> Sealed:
    """Lay the batches out as one object: magic, batches, footer."""
    batches = _laid_out(pending, BATCHES_AT, created_ms)
    footer = encode_footer(
        SegmentFooter(
            cluster_id=cluster_id,
            broker_id=broker_id,
            segment=segment,
            created_ms=created_ms,
            entries=_entries(pending, batches),
            receipts=receipts,
        )
    )
    return Sealed(
        segment=segment,
        content=[item.batch.data for item in pending],
        footer=footer,
        bytes=BATCHES_AT + bytes_of(pending) + len(footer),
        pending=pending,
        batches=batches,
        receipts=receipts,
    )


def seal_inline(pending: Sequence[Pending], *, segment: SegmentId, created_ms: int) -> Sealed:
    """Lay the batches out for the metadata store: one behind the other, nothing else."""
    return Sealed(
        segment=segment,
        content=[item.batch.data for item in pending],
        footer=None,
        bytes=bytes_of(pending),
        pending=pending,
        batches=_laid_out(pending, 0, created_ms),
        receipts=(),
    )


def bytes_of(pending: Sequence[Pending]) -> int:
    return sum(len(item.batch.data) for item in pending)


def _laid_out(pending: Sequence[Pending], at: int, created_ms: int) -> list[SegmentBatch]:
    batches: list[SegmentBatch] = []
    for item in pending:
        batches.append(_placed(item.batch, at, created_ms))
        at += len(item.batch.data)
    return batches


def _placed(batch: WalBatch, at: int, created_ms: int) -> SegmentBatch:
    return SegmentBatch(
        batch.partition,
        at,
        len(batch.data),
        batch.records,
        created_ms if batch.log_append_time else batch.max_timestamp_ms,
        created_ms if batch.log_append_time else -1,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.transaction,
    )


def _entries(pending: Sequence[Pending], batches: Sequence[SegmentBatch]) -> list[SegmentEntry]:
    """One entry per partition: its batches lie side by side."""
    entries: list[SegmentEntry] = []
    partition = None
    for item, placed in zip(pending, batches, strict=True):
        if placed.partition != partition:
            partition = placed.partition
            topic_id, index = item.batch.topic_id, item.batch.partition_index
            entries.append(
                SegmentEntry(topic_id, index, placed.at, placed.length, placed.records, placed.max_timestamp_ms)
            )
            continue
        run = entries[-1]
        entries[-1] = run._replace(
            length=run.length + placed.length,
            records=run.records + placed.records,
            max_timestamp_ms=max(run.max_timestamp_ms, placed.max_timestamp_ms),
        )
    return entries


def _sequence_order(pending: Pending) -> tuple[int, int, int]:
    batch = pending.batch
    return batch.producer_id, batch.producer_epoch, batch.base_sequence


def _partition_of(pending: Pending) -> int:
    return pending.batch.partition
