"""A WAL segment on its way into the log: a broker's commit request to the metadata store, and its outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from lakestream.model.place import InlineData, SegmentId
from lakestream.model.topic import PartitionId

NO_PRODUCER = -1

NOT_TRANSACTIONAL = 0
ADDED_BEFORE = 1
"""The batch belongs to a transaction that its partition was added to before (Kafka's transaction version 1)."""
ADDED_BY_WRITING = 2
"""The batch adds its partition to the transaction, and begins one where none is open (version 2, KIP-890)."""


class SegmentBatch(NamedTuple):
    """One batch of a segment, with the fields that the commit needs. Batches of a partition are contiguous."""

    partition: PartitionId
    at: int
    length: int
    records: int
    max_timestamp_ms: int
    append_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    transaction: int = 0
    """NOT_TRANSACTIONAL, ADDED_BEFORE or ADDED_BY_WRITING."""


class BatchStatus(IntEnum):
    """The outcome of one batch. Stored in segment rows, so numbers are never reused."""

    STORED = 0
    DUPLICATE = 1
    """Stored before; base_offset and append_ms are those of the first time."""
    OUT_OF_ORDER = 2
    """An earlier sequence is missing; it may be on its way through another broker."""
    UNKNOWN_PRODUCER = 3
    """No state for this producer here, and the sequence is not 0."""
    STALE_EPOCH = 4
    DUPLICATE_TOO_OLD = 5
    UNKNOWN_PARTITION = 6
    UNKNOWN_TRANSACTION = 7
    """No transactional id has this producer id: it has expired, or never was."""
    NOT_IN_TRANSACTION = 8
    """The producer's transaction has ended, or the partition was not added to it."""


class BatchResult(NamedTuple):
    status: BatchStatus
    base_offset: int
    append_ms: int
    log_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentCommit:
    """One flush: its batches, in the order in which they take offsets, and the place of their bytes. They lie in a
    durable object, or they come with the commit (an inline segment)."""

    segment: SegmentId
    broker_id: int
    incarnation: int
    bytes: int
    """Of the object; 0 for an inline segment, which has none."""
    batches: Sequence[SegmentBatch]
    receipts: Sequence[SegmentId] = ()
    """Earlier segments whose results this segment's footer records, so that the bucket alone can rebuild the log."""
    inline: InlineData | None = None
    """For an inline segment: the batches, which the store keeps with their offsets. Positions count from its start."""

    @property
    def is_transactional(self) -> bool:
        return any(batch.transaction for batch in self.batches)


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The final outcome of a committed segment. `results` are in the order of the commit's batches."""

    results: tuple[BatchResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandoned:
    """The final outcome of a segment that was given up. Its batches were never visible and never will be."""


SegmentFate = Committed | Abandoned
