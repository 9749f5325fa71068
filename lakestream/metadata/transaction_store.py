"""TransactionStore: the metadata store's verbs for Kafka transactions, each of them one transaction of the store.

    begin_producer -> add_partitions, add_offsets, commits of batches -> end: markers, offsets, state, all at once

The row of a transactional id holds its producer's identity, and every verb checks it. So a coordinator is only a hint,
and a producer that was fenced changes nothing, whichever broker it asks. Between begin and end there is nothing to
recover: the end of a transaction has happened, or it has not. All times are the store's own.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lakestream.model.group import PendingOffsets, TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    ActiveProducer,
    DescribedTransaction,
    EndedTransaction,
    Ending,
    OpenTransaction,
    ProducerAsk,
    TransactionalProducer,
)


class TransactionStore(Protocol):
    # --- producers -------------------------------------------------------------------------------

    async def begin_producer(self, ask: ProducerAsk) -> Ending:
        """Give the transactional id an identity of its own, under a higher epoch than before, and abort what was open.
        A producer that asks again because it lost the answer gets the same identity. Raises ProducerFenced if another
        producer has taken over meanwhile."""
        ...

    # --- what a transaction covers ---------------------------------------------------------------

    async def begin(self, producer: TransactionalProducer) -> None:
        """Begin a transaction, unless one is open. Raises ProducerFenced, UnknownTransactionalId."""
        ...

    async def add_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> None:
        """Add the partitions to the transaction, and begin it where none is open. Raises ProducerFenced,
        UnknownTransactionalId."""
        ...

    async def has_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> list[bool]:
        """Whether each of these partitions is part of the open transaction. Raises like add_partitions."""
        ...

    async def add_offsets(
        self,
        producer: TransactionalProducer,
        pending: PendingOffsets,
        *,
        begins: bool,
    ) -> None:
        """Keep offsets that the group gets when the transaction commits. `begins`: a transaction begins where none is
        open; otherwise that raises WrongTransactionState. Raises ProducerFenced, UnknownTransactionalId, and like a
        commit of offsets NotCoordinator and IllegalGeneration: an old coordinator's members commit nothing."""
        ...

    async def pending_offsets(self, group: str) -> frozenset[TopicPartition]:
        """The partitions for which an open transaction keeps offsets of this group."""
        ...

    # --- the end ---------------------------------------------------------------------------------

    async def end(
        self, producer: TransactionalProducer, *, committed: bool, bump: bool, spare_producer_id: int | None
    ) -> Ending:
        """End the transaction: markers, aborted ranges, group offsets and the states of all partitions, together.

        A repeated request reads what became of the first. `bump`: the producer goes on under the next epoch (KIP-890);
        with a `spare_producer_id`, under that id if its epochs are used up. Raises ProducerFenced,
        UnknownTransactionalId, WrongTransactionState if there is nothing to end or it ended the other way.
        """
        ...

    async def abort_producer(self, producer_id: int, epoch: int) -> tuple[PartitionId, ...]:
        """Abort the open transaction of this producer, as an administrator. Returns the partitions that got a marker;
        none if no transaction was open under this epoch or a lower one."""
        ...

    async def abort_timed_out(self) -> tuple[PartitionId, ...] | None:
        """Abort one transaction that is open for longer than its timeout, and fence its producer. Returns the
        partitions that got a marker; None if there is no such transaction."""
        ...

    async def forget(self, idle_for_ms: int, limit: int) -> int:
        """Remove transactional ids that were not used for this long, and what is kept of transactions whose offsets are
        in the table or deleted; at most `limit` rows each. Returns how many."""
        ...

    # --- questions -------------------------------------------------------------------------------

    async def list_ids(self) -> list[DescribedTransaction]:
        """All transactional ids, by name, without their partitions."""
        ...

    async def describe(self, transactional_id: str) -> DescribedTransaction | None:
        """None: there is no such id."""
        ...

    async def active_producers(self, partition: PartitionId) -> list[ActiveProducer]:
        """Producers with state on the partition, by id."""
        ...

    async def open_longer_than(self, age_ms: int, limit: int) -> list[OpenTransaction]:
        """Transactions that are open for longer than this, the oldest first."""
        ...

    async def ended(self, until: Mapping[PartitionId, int], among: Sequence[PartitionId]) -> list[EndedTransaction]:
        """The ended transactions that began below these offsets of these partitions and are not in their tables, with
        all their parts in the partitions `among`, wherever those begin. Parts in a table, and parts whose records were
        deleted, are left out. By partition and marker."""
        ...
