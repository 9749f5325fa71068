"""Questions about transactions: lists, descriptions, and what compaction must know. They change nothing."""

from collections.abc import Sequence
from typing import Any

from lakestream.metadata.verbs.running import Verbs, reads
from lakestream.metadata.verbs.steps import Steps, all_rows, maybe_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.group import TopicPartition
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    ActiveProducer,
    DescribedTransaction,
    EndedTransaction,
    OpenTransaction,
    Outcome,
    ProducerIdentity,
    TransactionPartition,
    TransactionState,
)

_DESCRIBED = "SELECT id, producer_id, epoch, state, outcome, timeout_ms, started_ms FROM transactional_id"
_OPEN = (
    "SELECT id, transactional_id.producer_id, now_ms() - started_ms, timeout_ms FROM transactional_id"
    " WHERE started_ms IS NOT NULL AND started_ms < now_ms() - :age_ms ORDER BY started_ms, id LIMIT :limit"
)
_PRODUCERS = (
    " FROM producer LEFT JOIN transaction_partition"
    " ON transaction_partition.partition_id = producer.partition_id"
    " AND transaction_partition.producer_id = producer.producer_id"
    " WHERE producer.partition_id = :partition ORDER BY producer.producer_id"
)
_ACTIVE_PRODUCERS = Wording(
    postgres="SELECT producer.producer_id, epoch, recent[cardinality(recent) - 2], written_ms, first_offset"
    + _PRODUCERS,
    sqlite="SELECT producer.producer_id, epoch, hex(substr(recent, -20, 4)), written_ms, first_offset" + _PRODUCERS,
)
"""The last sequence is the second of the last four numbers. SQLite keeps them as bytes: 4, 4, 8 and 8."""


class TransactionQuestions(Verbs):
    @reads
    def pending_offsets(self, group: str) -> Steps[frozenset[TopicPartition]]:
        rows = yield from all_rows(
            "SELECT topic_id, number FROM transaction_offset WHERE group_name = :group", group=group
        )
        return frozenset(TopicPartition._make(row) for row in rows)

    @reads
    def list_ids(self) -> Steps[list[DescribedTransaction]]:
        rows = yield from all_rows(_DESCRIBED + ' ORDER BY id COLLATE "C"')
        return [_described(row) for row in rows]

    @reads
    def describe(self, transactional_id: str) -> Steps[DescribedTransaction | None]:
        row = yield from maybe_row(_DESCRIBED + " WHERE id = :id", id=transactional_id)
        if row is None:
            return None
        parts = yield from all_rows(
            "SELECT topic.name, partition.number FROM transaction_partition"
            " JOIN partition ON partition.id = partition_id JOIN topic ON topic.id = partition.topic_id"
            ' WHERE producer_id = :producer ORDER BY topic.name COLLATE "C", partition.number',
            producer=row[1],
        )
        return _described(row, tuple(TransactionPartition._make(part) for part in parts))

    @reads
    def active_producers(self, partition: PartitionId) -> Steps[list[ActiveProducer]]:
        rows = yield from all_rows(_ACTIVE_PRODUCERS, partition=partition)
        return [
            ActiveProducer(
                ProducerIdentity(id, epoch),
                int(sequence, 16) if isinstance(sequence, str) else sequence,
                written_ms,
                first_offset,
            )
            for id, epoch, sequence, written_ms, first_offset in rows
        ]

    @reads
    def open_longer_than(self, age_ms: int, limit: int) -> Steps[list[OpenTransaction]]:
        rows = yield from all_rows(_OPEN, age_ms=age_ms, limit=limit)
        parts = yield from all_rows(
            "SELECT DISTINCT producer_id, topic.name FROM transaction_partition"
            " JOIN partition ON partition.id = partition_id JOIN topic ON topic.id = partition.topic_id"
            " WHERE producer_id = ANY (:producers) AND first_offset IS NOT NULL",
            producers=[row[1] for row in rows],
        )
        topics_of: dict[int, list[str]] = {}
        for producer_id, name in parts:
            topics_of.setdefault(producer_id, []).append(name)
        return [
            OpenTransaction(id, producer_id, age_ms, timeout_ms, tuple(sorted(topics_of.get(producer_id, ()))))
            for id, producer_id, age_ms, timeout_ms in rows
        ]

    @reads
    def ended(self, partitions: Sequence[PartitionId]) -> Steps[list[EndedTransaction]]:
        rows = yield from all_rows(
            "SELECT partition_id, producer_id, ended_transaction.number, first_offset, last_offset, committed"
            " FROM ended_transaction JOIN partition ON partition.id = partition_id"
            " WHERE partition_id = ANY (:partitions) AND last_offset >= tabled_until"
            " ORDER BY partition_id, last_offset",
            partitions=list(partitions),
        )
        return [EndedTransaction._make((*row[:5], bool(row[5]))) for row in rows]


def _described(row: tuple[Any, ...], partitions: Sequence[TransactionPartition] = ()) -> DescribedTransaction:
    id, producer_id, epoch, state, outcome, timeout_ms, started_ms = row
    return DescribedTransaction(
        transactional_id=id,
        producer=ProducerIdentity(producer_id, epoch),
        state=TransactionState(state),
        outcome=Outcome(outcome),
        timeout_ms=timeout_ms,
        started_ms=started_ms,
        partitions=partitions,
    )
