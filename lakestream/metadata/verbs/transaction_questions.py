"""Questions about transactions: lists, descriptions, and what compaction must know. They change nothing."""

from collections.abc import Mapping, Sequence
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


_ENDED = (
    "SELECT partition_id, producer_id, ended_transaction.number, first_offset, last_offset, committed"
    " FROM ended_transaction JOIN partition ON partition.id = partition_id"
)
_NOT_TABLED = " AND last_offset >= greatest(tabled_until, log_start)"
_ENDED_BELOW = Wording(
    postgres=_ENDED + " JOIN unnest(:partitions::bigint[], :ends::bigint[]) AS asked (id, ending)"
    " ON partition_id = asked.id WHERE first_offset < asked.ending" + _NOT_TABLED,
    sqlite=_ENDED + " JOIN json_each(:partitions) AS asked ON partition_id = asked.value"
    " WHERE first_offset < json_extract(:ends, '$[' || asked.key || ']')" + _NOT_TABLED,
)
_ENDED_PARTS = Wording(
    postgres=_ENDED + " JOIN unnest(:producers::bigint[], :numbers::bigint[]) AS met (id, newest)"
    " ON producer_id = met.id AND ended_transaction.number <= met.newest"
    " WHERE partition_id = ANY (:partitions)" + _NOT_TABLED,
    sqlite=_ENDED + " JOIN json_each(:producers) AS met ON producer_id = met.value"
    " AND ended_transaction.number <= json_extract(:numbers, '$[' || met.key || ']')"
    " WHERE partition_id IN (SELECT value FROM json_each(:partitions))" + _NOT_TABLED,
)


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
    def ended(self, until: Mapping[PartitionId, int], among: Sequence[PartitionId]) -> Steps[list[EndedTransaction]]:
        met = yield from all_rows(_ENDED_BELOW, partitions=list(until), ends=list(until.values()))
        newest: dict[int, int] = {}
        for _, producer_id, number, *_ in met:
            newest[producer_id] = max(number, newest.get(producer_id, 0))
        others = yield from all_rows(
            _ENDED_PARTS,
            partitions=list(among),
            producers=list(newest),
            numbers=list(newest.values()),
        )
        wanted = {(producer_id, number) for _, producer_id, number, *_ in met}
        rows = {row for row in others if (row[1], row[2]) in wanted}.union(met)
        return sorted(
            (EndedTransaction._make((*row[:5], bool(row[5]))) for row in rows),
            key=lambda part: (part.partition, part.last_offset),
        )


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
