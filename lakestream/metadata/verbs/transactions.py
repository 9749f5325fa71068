"""The verbs of transactions: both stores run them from this text (commits of batches: transactional_commits.py)."""

from collections.abc import Sequence

from lakestream.metadata.rules.grouping import moved_on, overtaken
from lakestream.metadata.rules.transacting import (
    IdRow,
    check_producer,
    is_repeated_begin,
    next_identity,
    repeated_end,
    unknown_id,
)
from lakestream.metadata.verbs.running import reads, transacts, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, maybe_row
from lakestream.metadata.verbs.transaction_ends import end_transaction
from lakestream.metadata.verbs.transaction_questions import TransactionQuestions
from lakestream.metadata.verbs.transactional_commits import ID_COLUMNS, begin_transactions
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.errors import WrongTransactionState
from lakestream.model.group import NO_GENERATION, PendingOffsets
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import (
    Ending,
    Outcome,
    ProducerAsk,
    ProducerIdentity,
    TransactionalProducer,
    TransactionState,
)

_ADD_PARTITIONS = Wording(
    postgres="INSERT INTO transaction_partition (partition_id, producer_id)"
    " SELECT id, :producer::bigint FROM unnest(:partition::bigint[]) AS new (id)"
    " ON CONFLICT (partition_id, producer_id) DO NOTHING",
    sqlite="INSERT INTO transaction_partition (partition_id, producer_id) VALUES (:partition, :producer)"
    " ON CONFLICT (partition_id, producer_id) DO NOTHING",
)
_REPLACED = (
    " ON CONFLICT (producer_id, group_name, topic_id, number) DO UPDATE SET next_offset = excluded.next_offset,"
    " leader_epoch = excluded.leader_epoch, metadata = excluded.metadata"
)
_ADD_OFFSETS = Wording(
    postgres="INSERT INTO transaction_offset SELECT :producer::bigint, :group, new.* FROM unnest(:topic::bytea[],"
    " :number::integer[], :offset::bigint[], :leader_epoch::integer[], :metadata::bytea[]) AS new" + _REPLACED,
    sqlite="INSERT INTO transaction_offset VALUES"
    " (:producer, :group, :topic, :number, :offset, :leader_epoch, :metadata)" + _REPLACED,
)
_FORGET_ENDED = Wording(
    postgres="DELETE FROM ended_transaction USING (SELECT partition_id, last_offset FROM ended_transaction"
    " LEFT JOIN partition ON partition.id = partition_id"
    " WHERE partition.id IS NULL OR last_offset < greatest(tabled_until, log_start) LIMIT :limit) AS old"
    " WHERE ended_transaction.partition_id = old.partition_id AND ended_transaction.last_offset = old.last_offset",
    sqlite="DELETE FROM ended_transaction WHERE (partition_id, last_offset) IN"
    " (SELECT partition_id, last_offset FROM ended_transaction LEFT JOIN partition ON partition.id = partition_id"
    " WHERE partition.id IS NULL OR last_offset < max(tabled_until, log_start) LIMIT :limit)",
)


class TransactionVerbs(TransactionQuestions):
    """The TransactionStore of both stores."""

    # --- producers -------------------------------------------------------------------------------

    @transacts
    def begin_producer(self, ask: ProducerAsk) -> Steps[Ending]:
        created = yield from changed(
            "INSERT INTO transactional_id (id, producer_id, epoch, last_producer_id, last_epoch, timeout_ms, state,"
            " number, outcome, touched_ms) VALUES (:id, :producer_id, 0, -1, -1, :timeout_ms, :state, 0, :outcome,"
            " now_ms()) ON CONFLICT (id) DO NOTHING",
            id=ask.transactional_id,
            producer_id=ask.spare_producer_id,
            timeout_ms=ask.timeout_ms,
            state=TransactionState.EMPTY.value,
            outcome=Outcome.NONE.value,
        )
        if created:
            return Ending(identity=ProducerIdentity(ask.spare_producer_id, 0))
        row = yield from _locked(ask.transactional_id)
        if row is None:
            raise unknown_id(ask.transactional_id, ask.spare_producer_id)
        if is_repeated_begin(row, ask):
            return Ending(identity=row.identity)
        identity = next_identity(row.identity, ask.spare_producer_id)
        partitions = yield from end_transaction(row, identity, committed=False, retriable=ask.known is not None)
        yield from changed(
            "UPDATE transactional_id SET timeout_ms = :timeout_ms, outcome = :none WHERE id = :id",
            id=row.id,
            timeout_ms=ask.timeout_ms,
            none=Outcome.NONE.value,
        )
        return Ending(identity=identity, partitions=partitions)

    # --- what a transaction covers ---------------------------------------------------------------

    @transacts
    def begin(self, producer: TransactionalProducer) -> Steps[None]:
        check_producer((yield from _locked(producer.transactional_id)), producer)
        yield from begin_transactions([producer.producer_id])

    @transacts
    def add_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> Steps[None]:
        check_producer((yield from _locked(producer.transactional_id)), producer)
        yield from begin_transactions([producer.producer_id])
        yield from for_each({"partition": sorted(set(partitions))}, _ADD_PARTITIONS, producer=producer.producer_id)

    @reads
    def has_partitions(self, producer: TransactionalProducer, partitions: Sequence[PartitionId]) -> Steps[list[bool]]:
        row = yield from maybe_row(
            f"SELECT {ID_COLUMNS} FROM transactional_id WHERE id = :id", id=producer.transactional_id
        )
        check_producer(None if row is None else IdRow._make(row), producer)
        rows = yield from all_rows(
            "SELECT partition_id FROM transaction_partition WHERE producer_id = :producer",
            producer=producer.producer_id,
        )
        added = {partition for (partition,) in rows}
        return [partition in added for partition in partitions]

    @transacts
    def add_offsets(
        self,
        producer: TransactionalProducer,
        pending: PendingOffsets,
        *,
        begins: bool,
    ) -> Steps[None]:
        row = check_producer((yield from _locked(producer.transactional_id)), producer)
        if not row.is_ongoing and not begins:
            raise WrongTransactionState(
                f"transactional id '{row.id}' has no open transaction: add the group to it first"
            )
        yield from _check_group(pending)
        yield from begin_transactions([producer.producer_id])
        ordered = sorted(pending.offsets.items())
        columns: dict[str, Sequence[object]] = {
            "topic": [partition.topic for partition, _ in ordered],
            "number": [partition.number for partition, _ in ordered],
            "offset": [offset.offset for _, offset in ordered],
            "leader_epoch": [offset.leader_epoch for _, offset in ordered],
            "metadata": [offset.metadata.encode() for _, offset in ordered],
        }
        yield from for_each(columns, _ADD_OFFSETS, producer=producer.producer_id, group=pending.group)

    # --- the end ---------------------------------------------------------------------------------

    @transacts
    def end(
        self, producer: TransactionalProducer, *, committed: bool, bump: bool, spare_producer_id: int | None
    ) -> Steps[Ending]:
        row = yield from _locked(producer.transactional_id)
        if row is None or producer.producer_id not in (row.producer_id, row.last_producer_id):
            raise unknown_id(producer.transactional_id, producer.producer_id)
        if repeated_end(row, producer, committed=committed, bump=bump):
            return Ending(identity=row.identity)
        identity = next_identity(row.identity, spare_producer_id) if bump else row.identity
        partitions = yield from end_transaction(row, identity, committed=committed, retriable=True)
        return Ending(identity=identity, partitions=partitions)

    @transacts
    def abort_producer(self, producer_id: int, epoch: int) -> Steps[tuple[PartitionId, ...]]:
        found = yield from maybe_row(
            f"SELECT {ID_COLUMNS} FROM transactional_id WHERE producer_id = :producer FOR UPDATE", producer=producer_id
        )
        row = None if found is None else IdRow._make(found)
        if row is None or not row.is_ongoing or row.epoch > epoch:
            return ()
        return (yield from _fence(row))

    @transacts
    def abort_timed_out(self) -> Steps[tuple[PartitionId, ...] | None]:
        """One at a time: two would lock their partitions out of order. A row that someone else holds is passed over."""
        found = yield from maybe_row(_TIMED_OUT)
        return None if found is None else (yield from _fence(IdRow._make(found)))

    @writes
    def forget(self, idle_for_ms: int, limit: int) -> Steps[int]:
        ids = yield from changed(_FORGET_IDS, state=TransactionState.EMPTY.value, idle_for_ms=idle_for_ms, limit=limit)
        return ids + (yield from changed(_FORGET_ENDED, limit=limit))


_TIMED_OUT = Wording(
    postgres=f"SELECT {ID_COLUMNS} FROM transactional_id"
    " WHERE started_ms IS NOT NULL AND started_ms + timeout_ms <= now_ms() ORDER BY id LIMIT 1"
    " FOR UPDATE SKIP LOCKED",
    sqlite=f"SELECT {ID_COLUMNS} FROM transactional_id"
    " WHERE started_ms IS NOT NULL AND started_ms + timeout_ms <= now_ms() ORDER BY id LIMIT 1",
)
_IDLE = "SELECT id FROM transactional_id WHERE state = :state AND touched_ms < now_ms() - :idle_for_ms"
_FORGET_IDS = Wording(
    postgres=f"DELETE FROM transactional_id WHERE id IN ({_IDLE} ORDER BY id LIMIT :limit FOR UPDATE SKIP LOCKED)",
    sqlite=f"DELETE FROM transactional_id WHERE id IN ({_IDLE} LIMIT :limit)",
)


def _locked(transactional_id: str) -> Steps[IdRow | None]:
    row = yield from maybe_row(
        f"SELECT {ID_COLUMNS} FROM transactional_id WHERE id = :id FOR UPDATE", id=transactional_id
    )
    return None if row is None else IdRow._make(row)


def _check_group(pending: PendingOffsets) -> Steps[None]:
    """Raises NotCoordinator, IllegalGeneration. A shared lock: a claim or a save of the group waits."""
    row = yield from maybe_row(
        "SELECT generation FROM consumer_group WHERE name = :group AND epoch = :epoch FOR SHARE",
        group=pending.group,
        epoch=pending.epoch,
    )
    if row is None:
        raise overtaken(pending.group, pending.epoch)
    if pending.generation != NO_GENERATION and row[0] > pending.generation:
        raise moved_on(pending.group, pending.generation)


def _fence(row: IdRow) -> Steps[tuple[PartitionId, ...]]:
    """Abort the transaction, and shut its producer out by the next epoch."""
    return (yield from end_transaction(row, next_identity(row.identity, None), committed=False, retriable=False))
