"""The end of a transaction: a marker in each partition, offsets of groups, and the state of the transactional id.

    partitions locked by id -> marker spans, ended transactions, tails -> groups' offsets -> row of the transactional id

All of it is one transaction of the store, over any number of partitions, topics and groups. A partition that was added
and never written gets no marker. A partition that was deleted meanwhile is passed over.
"""

from collections.abc import Sequence

from lakestream.metadata.rules.grouping import NO_STATE_KIND
from lakestream.metadata.rules.transacting import NO_IDENTITY, IdRow, marker_epoch
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, lock, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import MARKER_BYTES, Marker, Outcome, ProducerIdentity, TransactionState

_SPAN_COLUMNS = (
    "INSERT INTO span (partition_id, base_offset, last_offset, segment_id, at, length, max_timestamp_ms,"
    " running_max_timestamp_ms, append_ms, committed_ms)"
)
_MARKER_SPANS = Wording(
    postgres=_SPAN_COLUMNS + " SELECT id, marker, marker, :place, 0, :length::bigint, -1, running, -1, now_ms()"
    " FROM unnest(:partition::bigint[], :marker::bigint[], :running::bigint[]) AS new (id, marker, running)",
    sqlite=_SPAN_COLUMNS + " VALUES (:partition, :marker, :marker, :place, 0, :length, -1, :running, -1, now_ms())",
)
_ENDED = "INSERT INTO ended_transaction (partition_id, last_offset, first_offset, producer_id, number, committed)"
_ENDED_TRANSACTIONS = Wording(
    postgres=_ENDED + " SELECT id, marker, first, :producer::bigint, :number::bigint, :committed::smallint"
    " FROM unnest(:partition::bigint[], :marker::bigint[], :first::bigint[]) AS new (id, marker, first)",
    sqlite=_ENDED + " VALUES (:partition, :marker, :first, :producer, :number, :committed)",
)


def end_transaction(
    row: IdRow, identity: ProducerIdentity, *, committed: bool, retriable: bool
) -> Steps[tuple[PartitionId, ...]]:
    """End what is open, and go on under `identity`. `retriable`: the producer asked, and may ask again. Returns the
    partitions that got a marker. The caller holds the lock of the row."""
    partitions: tuple[PartitionId, ...] = ()
    if row.is_ongoing:
        partitions = yield from _write_markers(row, marker_epoch(row.identity, identity), committed=committed)
        if committed:
            yield from _commit_offsets(row.producer_id)
        yield from changed("DELETE FROM transaction_offset WHERE producer_id = :producer", producer=row.producer_id)
    last = row.identity if retriable else NO_IDENTITY
    yield from changed(
        "UPDATE transactional_id SET producer_id = :producer_id, epoch = :epoch, last_producer_id = :last_producer_id,"
        " last_epoch = :last_epoch, state = :state, number = number + 1, outcome = :outcome, started_ms = NULL,"
        " touched_ms = now_ms() WHERE id = :id",
        id=row.id,
        producer_id=identity.producer_id,
        epoch=identity.epoch,
        last_producer_id=last.producer_id,
        last_epoch=last.epoch,
        state=TransactionState.EMPTY.value,
        outcome=(Outcome.COMMITTED if committed else Outcome.ABORTED).value,
    )
    return partitions


def _write_markers(row: IdRow, epoch: int, *, committed: bool) -> Steps[tuple[PartitionId, ...]]:
    written = yield from all_rows(
        "SELECT partition_id, first_offset FROM transaction_partition"
        " WHERE producer_id = :producer AND first_offset IS NOT NULL",
        producer=row.producer_id,
    )
    first_of: dict[PartitionId, int] = dict(written)
    found = yield from all_rows(
        "SELECT id, next_offset, running_max_timestamp_ms FROM partition WHERE id = ANY (:partitions)"
        " ORDER BY id FOR UPDATE",
        partitions=sorted(first_of),
    )
    yield from changed("DELETE FROM transaction_partition WHERE producer_id = :producer", producer=row.producer_id)
    if found:
        yield from _place_markers(row, epoch, found, [first_of[id] for id, *_ in found], committed=committed)
    return tuple(id for id, *_ in found)


def _place_markers(
    row: IdRow, epoch: int, found: Sequence[tuple[int, ...]], first: Sequence[int], *, committed: bool
) -> Steps[None]:
    (now,) = yield from one_row("SELECT now_ms()")
    ids, markers, running = (list(column) for column in zip(*found, strict=True))
    yield from for_each(
        {"partition": ids, "marker": markers, "running": running},
        _MARKER_SPANS,
        place=Marker(row.producer_id, epoch, committed, now).place,
        length=MARKER_BYTES,
    )
    yield from for_each(
        {"partition": ids, "marker": markers, "first": list(first)},
        _ENDED_TRANSACTIONS,
        producer=row.producer_id,
        number=row.number,
        committed=int(committed),
    )
    yield from changed(
        "UPDATE partition SET next_offset = next_offset + 1, bytes = bytes + :length,"
        " unstable_from = (SELECT min(first_offset) FROM transaction_partition WHERE partition_id = partition.id),"
        " last_aborted = CASE WHEN :committed = 1 THEN last_aborted ELSE next_offset END"
        " WHERE id = ANY (:partitions)",
        length=MARKER_BYTES,
        committed=int(committed),
        partitions=ids,
    )


def _commit_offsets(producer_id: int) -> Steps[None]:
    """Give the groups their offsets, except for topics that were deleted meanwhile. Like in Kafka, no generation is
    checked any more: it was checked when the offsets came in."""
    groups = yield from all_rows(
        "SELECT DISTINCT group_name FROM transaction_offset WHERE producer_id = :producer", producer=producer_id
    )
    names = sorted(name for (name,) in groups)
    if not names:
        return
    yield from changed(
        "INSERT INTO consumer_group (name, epoch, owner_id, kind, protocol_type, generation, occupied)"
        " SELECT name, 0, -1, :kind, '', 0, 0 FROM unnest(:names::text[]) AS new (name) WHERE true"
        " ON CONFLICT (name) DO NOTHING",
        kind=NO_STATE_KIND,
        names=names,
    )
    yield from lock("SELECT 1 FROM consumer_group WHERE name = ANY (:names) ORDER BY name FOR SHARE", names=names)
    yield from changed(
        "INSERT INTO group_offset (group_name, topic_id, number, next_offset, leader_epoch, metadata, committed_ms,"
        " retention_ms) SELECT group_name, topic_id, number, transaction_offset.next_offset, leader_epoch, metadata,"
        " now_ms(), NULL FROM transaction_offset JOIN partition USING (topic_id, number)"
        " WHERE producer_id = :producer ORDER BY group_name, topic_id, number"
        " ON CONFLICT (group_name, topic_id, number) DO UPDATE SET next_offset = excluded.next_offset,"
        " leader_epoch = excluded.leader_epoch, metadata = excluded.metadata, committed_ms = excluded.committed_ms,"
        " retention_ms = excluded.retention_ms",
        producer=producer_id,
    )
