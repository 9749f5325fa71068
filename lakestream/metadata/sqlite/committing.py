"""commit_segment and abandon_segment: decide a segment's one fate in one transaction.

fate known? -> lease good? -> read tails and producers -> place_batches -> write spans, tails, producers, the fate
"""

import json
import sqlite3
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace

from lakestream.metadata.rules.kept_results import decode_results, encode_results
from lakestream.metadata.rules.placing import PartitionEnd, Placement, ProducerKey, place_batches
from lakestream.metadata.rules.segment_state import SegmentState
from lakestream.metadata.rules.sequencing import NUMBERS_PER_BATCH, RECENT_BATCHES_MAX, ProducerState
from lakestream.metadata.sqlite.running import drive
from lakestream.metadata.verbs.brokers import check_lease
from lakestream.metadata.verbs.transactional_commits import check_transactional, note_transactional
from lakestream.model.place import SegmentId
from lakestream.model.segment import NO_PRODUCER, Abandoned, Committed, SegmentBatch, SegmentCommit, SegmentFate
from lakestream.model.topic import PartitionId

_RECENT_VERSION = 1
_RECENT_BATCH_BYTES = 24
_RECENT = [struct.Struct(">B" + "iiqq" * batches) for batches in range(RECENT_BATCHES_MAX + 1)]
"""producer.recent: version (1 byte) = 1, then ProducerState.recent. The length tells the number of batches."""


def commit_segment(connection: sqlite3.Connection, commit: SegmentCommit, now_ms: int) -> SegmentFate:
    if (fate := _fate(connection, commit.segment)) is not None:
        return fate
    if commit.is_transactional:
        return _commit_transactional(connection, commit, now_ms)
    return _commit(connection, commit, now_ms)


def _commit_transactional(connection: sqlite3.Connection, commit: SegmentCommit, now_ms: int) -> Committed:
    checked = drive(connection, check_transactional(commit.batches), now_ms)
    placed = _commit(connection, replace(commit, batches=checked.admission.admitted), now_ms)
    drive(connection, note_transactional(checked, placed.results), now_ms)
    if not checked.admission.refused:
        return placed
    results = checked.admission.all_results(placed.results)
    connection.execute("UPDATE segment SET results = ? WHERE id = ?", (encode_results(results), commit.segment))
    return Committed(results=results)


def _commit(connection: sqlite3.Connection, commit: SegmentCommit, now_ms: int) -> Committed:
    drive(connection, check_lease(commit.broker_id, commit.incarnation), now_ms)
    placement = place_batches(
        commit.segment,
        commit.batches,
        _partition_ends(connection, commit.batches),
        _producer_states(connection, commit.batches),
        now_ms,
    )
    _write(connection, commit, placement, now_ms)
    return Committed(results=tuple(placement.results))


def abandon_segment(connection: sqlite3.Connection, segment: SegmentId, now_ms: int) -> SegmentFate:
    if (fate := _fate(connection, segment)) is not None:
        return fate
    connection.execute(
        "INSERT INTO segment (id, state, bytes, decided_ms, span_count, dead_since_ms) VALUES (?, ?, 0, ?, 0, ?)",
        (segment, SegmentState.ABANDONED, now_ms, now_ms),
    )
    return Abandoned()


def _fate(connection: sqlite3.Connection, segment: SegmentId) -> SegmentFate | None:
    row = connection.execute("SELECT state, results FROM segment WHERE id = ?", (segment,)).fetchone()
    if row is None:
        return None
    state, results = row
    if state == SegmentState.ABANDONED:
        return Abandoned()
    return Committed(results=() if results is None else decode_results(results))


# --- reading tails and producers ---------------------------------------------------------------------


def _partition_ends(
    connection: sqlite3.Connection, batches: Iterable[SegmentBatch]
) -> Mapping[PartitionId, PartitionEnd]:
    ids = sorted({batch.partition for batch in batches})
    rows = connection.execute(
        "SELECT id, log_start, next_offset, running_max_timestamp_ms FROM partition"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(ids),),
    )
    return {row[0]: PartitionEnd._make(row[1:]) for row in rows}


def _producer_states(
    connection: sqlite3.Connection, batches: Iterable[SegmentBatch]
) -> Mapping[ProducerKey, ProducerState]:
    partitions_of: dict[int, set[PartitionId]] = {}
    for batch in batches:
        if batch.producer_id != NO_PRODUCER:
            partitions_of.setdefault(batch.producer_id, set()).add(batch.partition)
    if not partitions_of:
        return {}
    rows = connection.execute(
        "SELECT partition_id, producer_id, epoch, recent"
        " FROM json_each(?) AS writer CROSS JOIN json_each(writer.value) AS place CROSS JOIN producer"
        " ON producer_id = CAST(writer.key AS INTEGER) AND partition_id = place.value",
        (json.dumps({producer: sorted(partitions) for producer, partitions in partitions_of.items()}),),
    )
    return {
        (partition_id, producer_id): ProducerState(epoch, _decode_recent(recent))
        for partition_id, producer_id, epoch, recent in rows
    }


# --- writing the results -----------------------------------------------------------------------------


def _write(connection: sqlite3.Connection, commit: SegmentCommit, placement: Placement, now_ms: int) -> None:
    connection.executemany("INSERT INTO span VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", placement.spans)
    connection.executemany(
        "UPDATE partition SET next_offset = ?, bytes = bytes + ?, running_max_timestamp_ms = ? WHERE id = ?",
        [(*growth, partition) for partition, growth in placement.growth.items()],
    )
    connection.executemany(
        "INSERT OR REPLACE INTO producer VALUES (?, ?, ?, ?, ?)",
        [(*key, state.epoch, _encode_recent(state.recent), now_ms) for key, state in placement.producers.items()],
    )
    _write_fate(connection, commit, placement, now_ms)
    if commit.inline is not None and placement.spans:
        connection.execute(
            "INSERT INTO inline_segment VALUES (?, ?, ?, ?)",
            (commit.segment, len(commit.inline), now_ms, commit.inline),
        )
    connection.executemany(
        "UPDATE segment SET results = NULL, receipted_in = ? WHERE id = ? AND state = ?",
        [(commit.segment, receipted, SegmentState.COMMITTED) for receipted in commit.receipts],
    )


def _write_fate(connection: sqlite3.Connection, commit: SegmentCommit, placement: Placement, now_ms: int) -> None:
    spans = len(placement.spans)
    connection.execute(
        "INSERT INTO segment (id, state, broker_id, bytes, decided_ms, results, span_count, dead_since_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            commit.segment,
            SegmentState.COMMITTED,
            commit.broker_id,
            commit.bytes,
            now_ms,
            encode_results(placement.results),
            spans,
            None if spans else now_ms,
        ),
    )


def _encode_recent(recent: tuple[int, ...]) -> bytes:
    return _RECENT[len(recent) // NUMBERS_PER_BATCH].pack(_RECENT_VERSION, *recent)


def _decode_recent(kept: bytes) -> tuple[int, ...]:
    return _RECENT[len(kept) // _RECENT_BATCH_BYTES].unpack(kept)[1:]
