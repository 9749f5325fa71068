"""Transactional batches of a segment: the checks before its commit, and the first offsets noted after it.

    rows of the producers, locked -> admit -> commit of the admitted batches -> first offsets, open transactions

Both stores run these steps around their own commit, in one transaction, and only for segments that hold such batches.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from lakestream.metadata.rules.transacting import AdmittedBatches, IdRow, admit, first_offsets
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.segment import NOT_TRANSACTIONAL, BatchResult, SegmentBatch
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import TransactionState

ID_COLUMNS = "id, producer_id, epoch, last_producer_id, last_epoch, state, number, outcome"

_NOTE_FIRST = Wording(
    postgres="INSERT INTO transaction_partition (partition_id, producer_id, first_offset)"
    " SELECT * FROM unnest(:partition::bigint[], :producer::bigint[], :first::bigint[])"
    " ON CONFLICT (partition_id, producer_id) DO UPDATE SET first_offset = excluded.first_offset",
    sqlite="INSERT INTO transaction_partition (partition_id, producer_id, first_offset)"
    " VALUES (:partition, :producer, :first)"
    " ON CONFLICT (partition_id, producer_id) DO UPDATE SET first_offset = excluded.first_offset",
)
_HOLD_READERS = Wording(
    postgres="UPDATE partition SET unstable_from = least(unstable_from, opened.first)"
    " FROM (SELECT id, min(first) AS first FROM unnest(:partition::bigint[], :first::bigint[]) AS new (id, first)"
    " GROUP BY id) AS opened WHERE partition.id = opened.id",
    sqlite="UPDATE partition SET unstable_from = min(coalesce(unstable_from, :first), :first) WHERE id = :partition",
)


class CheckedCommit(NamedTuple):
    admission: AdmittedBatches
    known: Collection[tuple[int, PartitionId]]
    """Producers and partitions that have a first offset."""


def check_transactional(batches: Sequence[SegmentBatch]) -> Steps[CheckedCommit]:
    """Lock the rows of the batches' producers until the end of the transaction, and check the batches."""
    producers = sorted({batch.producer_id for batch in batches if batch.transaction != NOT_TRANSACTIONAL})
    found = yield from all_rows(
        f"SELECT {ID_COLUMNS} FROM transactional_id WHERE producer_id = ANY (:producers) ORDER BY id FOR UPDATE",
        producers=producers,
    )
    parts = yield from all_rows(
        "SELECT producer_id, partition_id, first_offset FROM transaction_partition"
        " WHERE producer_id = ANY (:producers)",
        producers=producers,
    )
    rows = {row.producer_id: row for row in map(IdRow._make, found)}
    added = {(producer, partition) for producer, partition, _ in parts}
    known = {(producer, partition) for producer, partition, first in parts if first is not None}
    return CheckedCommit(admit(batches, rows, added), known)


def note_transactional(checked: CheckedCommit, results: Sequence[BatchResult]) -> Steps[None]:
    """Note what the admitted batches, now placed, began."""
    first = first_offsets(checked.admission.admitted, results, checked.known)
    if not first:
        return
    keys = sorted(first)
    partitions, offsets = [partition for _, partition in keys], [first[key] for key in keys]
    columns = {"partition": partitions, "producer": [producer for producer, _ in keys], "first": offsets}
    yield from for_each(columns, _NOTE_FIRST)
    yield from for_each({"partition": partitions, "first": offsets}, _HOLD_READERS)
    yield from begin_transactions(sorted({producer for producer, _ in keys}))


def begin_transactions(producers: Sequence[int]) -> Steps[None]:
    """Begin a transaction of each producer that has none open."""
    yield from changed(
        "UPDATE transactional_id SET state = :ongoing, started_ms = now_ms(), touched_ms = now_ms()"
        " WHERE producer_id = ANY (:producers) AND state <> :ongoing",
        ongoing=TransactionState.ONGOING.value,
        producers=list(producers),
    )
