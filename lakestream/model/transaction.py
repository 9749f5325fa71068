"""Kafka transactions in the metadata store: who writes, which offsets a transaction covers, and its markers.

    identity (producer id and epoch) -> first offsets by partition -> ended: a marker in each partition, all at once

A marker is a control batch of one record that takes one offset. Everything in it follows from four facts, so its span
holds them in place of a segment's name, and no bytes are stored for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from lakestream.model.topic import PartitionId

EPOCH_MAX = 32_767
"""Epochs have 16 bits. A producer whose next epoch would be this one gets a new producer id instead."""
NO_EPOCH = -1
NO_PRODUCER_ID = -1

MARKER_BYTES = 78
_MARKER_PREFIX = "end-"
"""Sorts before the prefix of inline segments, whose bytes are looked for and moved."""


class TransactionState(IntEnum):
    """Stored, so numbers are never reused."""

    EMPTY = 1
    ONGOING = 2


class Outcome(IntEnum):
    """What became of the last transaction of a transactional id. Stored, so numbers are never reused."""

    NONE = 0
    COMMITTED = 1
    ABORTED = 2


class ProducerIdentity(NamedTuple):
    producer_id: int
    epoch: int


class TransactionalProducer(NamedTuple):
    """Who asks to change a transaction."""

    transactional_id: str
    producer_id: int
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProducerAsk:
    """A producer that begins, or begins again after an error (KIP-360)."""

    transactional_id: str
    timeout_ms: int
    known: ProducerIdentity | None
    """The identity under which it wrote before. None: it is a new process, and fences the others."""
    spare_producer_id: int
    """Given to a new transactional id, and where epochs are used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The answer to the end of a transaction: the identity to go on with, and the partitions that got a marker."""

    identity: ProducerIdentity
    partitions: tuple[PartitionId, ...] = ()


class AbortedRange(NamedTuple):
    """An aborted transaction's records of one partition: its producer's batches from first to last offset."""

    producer_id: int
    first_offset: int
    last_offset: int
    """The offset of the marker."""


class EndedTransaction(NamedTuple):
    """A transaction that ended, in one of its partitions, not yet wholly in the table."""

    partition: PartitionId
    producer_id: int
    number: int
    """With the producer id it names the transaction, in all of its partitions."""
    first_offset: int
    last_offset: int
    """The offset of the marker."""
    committed: bool


class TransactionPartition(NamedTuple):
    topic: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedTransaction:
    transactional_id: str
    producer: ProducerIdentity
    state: TransactionState
    outcome: Outcome
    timeout_ms: int
    started_ms: int | None
    """None unless the transaction is ongoing."""
    partitions: Sequence[TransactionPartition] = ()


class ActiveProducer(NamedTuple):
    """A producer with state on a partition."""

    producer: ProducerIdentity
    last_sequence: int
    written_ms: int
    first_offset: int | None
    """Of its open transaction on the partition."""


class OpenTransaction(NamedTuple):
    """A transaction that holds up readers and the tables of its topics."""

    transactional_id: str
    producer_id: int
    age_ms: int
    timeout_ms: int
    topics: tuple[str, ...]


class Marker(NamedTuple):
    producer_id: int
    epoch: int
    committed: bool
    written_ms: int

    @property
    def place(self) -> str:
        """The form in which a span holds the marker, in place of a segment's name."""
        return f"{_MARKER_PREFIX}{int(self.committed)}-{self.producer_id}-{self.epoch}-{self.written_ms}"


def is_marker(segment: str) -> bool:
    return segment.startswith(_MARKER_PREFIX)


def marker_of(segment: str) -> Marker:
    committed, producer_id, epoch, written_ms = map(int, segment.removeprefix(_MARKER_PREFIX).split("-"))
    return Marker(producer_id, epoch, bool(committed), written_ms)
