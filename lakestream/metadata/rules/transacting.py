"""Rules of transactions without a database: who may act, which identity comes next, which batches are admitted.

row of the transactional id, as read under lock  +  request  ->  go on | raise
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lakestream.metadata.rules.sequencing import NO_OFFSET, NO_TIME
from lakestream.model.errors import ProducerFenced, UnknownTransactionalId, WrongTransactionState
from lakestream.model.segment import ADDED_BEFORE, NOT_TRANSACTIONAL, BatchResult, BatchStatus, SegmentBatch
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    EPOCH_MAX,
    NO_EPOCH,
    NO_PRODUCER_ID,
    Outcome,
    ProducerAsk,
    ProducerIdentity,
    TransactionalProducer,
    TransactionState,
)


class IdRow(NamedTuple):
    """A row of transactional_id, as far as the rules need it."""

    id: str
    producer_id: int
    epoch: int
    last_producer_id: int
    last_epoch: int
    state: int
    number: int
    outcome: int

    @property
    def identity(self) -> ProducerIdentity:
        return ProducerIdentity(self.producer_id, self.epoch)

    @property
    def last_identity(self) -> ProducerIdentity:
        return ProducerIdentity(self.last_producer_id, self.last_epoch)

    @property
    def is_ongoing(self) -> bool:
        return self.state == TransactionState.ONGOING


NO_IDENTITY = ProducerIdentity(NO_PRODUCER_ID, NO_EPOCH)


# --- identities ------------------------------------------------------------------------------------


def next_identity(now: ProducerIdentity, spare_producer_id: int | None) -> ProducerIdentity:
    """The next epoch, or a new producer id where epochs are used up. Without a spare id the last epoch is used: it
    fences, and the producer's next request brings a spare one."""
    if spare_producer_id is not None and now.epoch + 1 >= EPOCH_MAX:
        return ProducerIdentity(spare_producer_id, 0)
    return ProducerIdentity(now.producer_id, min(now.epoch + 1, EPOCH_MAX))


def marker_epoch(before: ProducerIdentity, after: ProducerIdentity) -> int:
    """The epoch of a marker is the one to go on with. A producer that goes on under another id leaves the last epoch of
    its old one behind."""
    return after.epoch if after.producer_id == before.producer_id else EPOCH_MAX


def is_repeated_begin(row: IdRow, ask: ProducerAsk) -> bool:
    """Whether the producer has the identity that this request would give it already. Raises ProducerFenced if another
    producer has the transactional id."""
    if ask.known is None or ask.known == row.identity:
        return False
    if ask.known == row.last_identity:
        return True
    raise fenced_producer(row.id, ask.known)


def check_producer(row: IdRow | None, producer: TransactionalProducer) -> IdRow:
    """The row, if the producer is the current one. Raises UnknownTransactionalId, ProducerFenced."""
    if row is None or producer.producer_id not in (row.producer_id, row.last_producer_id):
        raise unknown_id(producer.transactional_id, producer.producer_id)
    if ProducerIdentity(*producer[1:]) != row.identity:
        raise fenced_producer(row.id, ProducerIdentity(*producer[1:]))
    return row


def repeated_end(row: IdRow, producer: TransactionalProducer, *, committed: bool, bump: bool) -> bool:
    """Whether this request was carried out before. Raises WrongTransactionState if nothing is open that it could end,
    or if the transaction ended the other way."""
    asked = Outcome.COMMITTED if committed else Outcome.ABORTED
    identity = ProducerIdentity(*producer[1:])
    if bump and not row.is_ongoing and identity == row.last_identity and identity != row.identity:
        return _ended_as(row, asked)
    check_producer(row, producer)
    if row.is_ongoing:
        return False
    if bump:
        if not committed:
            return False  # nothing was written; the producer still goes on under the next epoch
        raise WrongTransactionState(f"transactional id '{row.id}' has no open transaction to commit")
    return _ended_as(row, asked)


def _ended_as(row: IdRow, asked: Outcome) -> bool:
    if row.outcome == asked:
        return True
    ended = {Outcome.NONE: "has none", Outcome.COMMITTED: "was committed", Outcome.ABORTED: "was aborted"}
    raise WrongTransactionState(
        f"there is no open transaction of transactional id '{row.id}': the last one {ended[Outcome(row.outcome)]}"
    )


def fenced_producer(id: str, identity: ProducerIdentity) -> ProducerFenced:
    return ProducerFenced(
        f"producer {identity.producer_id} with epoch {identity.epoch} no longer writes for transactional id '{id}': "
        "another one took over, or its transaction timed out. Close it"
    )


def unknown_id(id: str, producer_id: int) -> UnknownTransactionalId:
    return UnknownTransactionalId(f"transactional id '{id}' does not belong to producer {producer_id}: begin again")


# --- batches ---------------------------------------------------------------------------------------


class AdmittedBatches(NamedTuple):
    """The batches of a commit that go on to be placed, and the refused ones."""

    admitted: Sequence[SegmentBatch]
    refused: Mapping[int, BatchStatus]
    """By position among all batches."""

    def all_results(self, results: Sequence[BatchResult]) -> tuple[BatchResult, ...]:
        """The results of all batches, from those of the admitted ones."""
        placed = iter(results)
        return tuple(
            BatchResult(self.refused[at], NO_OFFSET, NO_TIME, NO_OFFSET) if at in self.refused else next(placed)
            for at in range(len(results) + len(self.refused))
        )


def admit(
    batches: Sequence[SegmentBatch], rows: Mapping[int, IdRow], added: Collection[tuple[int, PartitionId]]
) -> AdmittedBatches:
    """Check transactional batches against the rows of their producers, and pass on all others. `added` are the
    partitions of open transactions, by producer id."""
    judged = {at: _judge(batch, rows.get(batch.producer_id), added) for at, batch in enumerate(batches)}
    refused = {at: status for at, status in judged.items() if status is not BatchStatus.STORED}
    return AdmittedBatches([batch for at, batch in enumerate(batches) if at not in refused], refused)


def _judge(batch: SegmentBatch, row: IdRow | None, added: Collection[tuple[int, PartitionId]]) -> BatchStatus:
    if batch.transaction == NOT_TRANSACTIONAL:
        return BatchStatus.STORED
    if row is None:
        return BatchStatus.UNKNOWN_TRANSACTION
    if batch.producer_epoch != row.epoch:
        return BatchStatus.STALE_EPOCH
    if batch.transaction == ADDED_BEFORE and (not row.is_ongoing or (batch.producer_id, batch.partition) not in added):
        return BatchStatus.NOT_IN_TRANSACTION
    return BatchStatus.STORED


def first_offsets(
    batches: Sequence[SegmentBatch], results: Sequence[BatchResult], known: Collection[tuple[int, PartitionId]]
) -> dict[tuple[int, PartitionId], int]:
    """The first offset that each transaction got in a partition, by producer id. `known`: those that have one."""
    first: dict[tuple[int, PartitionId], int] = {}
    for batch, result in zip(batches, results, strict=True):
        key = (batch.producer_id, batch.partition)
        if batch.transaction != NOT_TRANSACTIONAL and result.status is BatchStatus.STORED and key not in known:
            first.setdefault(key, result.base_offset)
    return first
