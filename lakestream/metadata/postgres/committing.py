"""commit_segment and abandon_segment: decide a segment's one fate in one round trip.

The function commit_segment_v1 (migrations/postgres/0001_log_functions.sql) does the work, and commit_inline_segment_v1
keeps the bytes of an inline segment beside it. This module packs their arguments and reads their answer. Numbers travel
as array literals, which is far cheaper than adapting them one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import psycopg

from lakestream.metadata.postgres.asking import maybe_row, one_row
from lakestream.metadata.postgres.failures import FENCED
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.running import drive
from lakestream.metadata.rules.fencing import fenced
from lakestream.metadata.rules.kept_results import decode_results, encode_results
from lakestream.metadata.rules.segment_state import SegmentState
from lakestream.metadata.verbs.transactional_commits import check_transactional, note_transactional
from lakestream.model.place import SegmentId
from lakestream.model.segment import NO_PRODUCER, Abandoned, Committed, SegmentBatch, SegmentCommit, SegmentFate

_COMMIT = (
    "SELECT fate_state, fate_results FROM commit_segment_v1("
    "%s, %s, %s, %s, %s, %s::bigint[], %s::bigint[], %s::bigint[], %s::integer[], %s::integer[], %s::bigint[],"
    " %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::integer[], %s::bigint[])"
)
_COMMIT_INLINE = (
    "SELECT fate_state, fate_results FROM commit_inline_segment_v1(%s, "
    "%s, %s, %s, %s, %s, %s::bigint[], %s::bigint[], %s::bigint[], %s::integer[], %s::integer[], %s::bigint[],"
    " %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::integer[], %s::bigint[])"
)
_NO_SLOT = 0


async def commit_segment(connection: Connection, commit: SegmentCommit) -> SegmentFate:
    if not commit.is_transactional:
        return await _commit(connection, commit)
    async with connection.transaction():
        return await _commit_transactional(connection, commit)


async def _commit_transactional(connection: Connection, commit: SegmentCommit) -> SegmentFate:
    """The rows of the producers are locked first, so an attempt whose answer was lost has ended when they are held."""
    checked = await drive(connection, check_transactional(commit.batches))
    known = await maybe_row(connection, "SELECT state, results FROM segment WHERE id = %s", (commit.segment,))
    if known is not None:
        return _fate(known)
    placed = await _commit(connection, replace(commit, batches=checked.admission.admitted))
    if not isinstance(placed, Committed) or len(placed.results) != len(checked.admission.admitted):
        return placed  # decided by someone else in the meantime: these are the results of all batches
    await drive(connection, note_transactional(checked, placed.results))
    if not checked.admission.refused:
        return placed
    results = checked.admission.all_results(placed.results)
    await connection.execute("UPDATE segment SET results = %s WHERE id = %s", (encode_results(results), commit.segment))
    return Committed(results=results)


async def _commit(connection: Connection, commit: SegmentCommit) -> SegmentFate:
    try:
        cursor = await connection.execute(
            _COMMIT if commit.inline is None else _COMMIT_INLINE,
            (
                *(() if commit.inline is None else (commit.inline,)),
                commit.segment,
                commit.broker_id,
                commit.incarnation,
                commit.bytes,
                list(commit.receipts),
                *_packed(commit.batches),
            ),
            binary=True,
        )
    except psycopg.Error as error:
        if error.sqlstate == FENCED:
            raise fenced(commit.broker_id, commit.incarnation) from None
        raise
    row = await cursor.fetchone()
    assert row is not None
    return _fate(row)


async def abandon_segment(connection: Connection, segment: SegmentId) -> SegmentFate:
    """One statement. It inserts the fate or, by an update without effect, locks and returns the existing one."""
    return _fate(
        await one_row(
            connection,
            "INSERT INTO segment (id, state, bytes, decided_ms, span_count, dead_since_ms)"
            " SELECT %s, %s, 0, now, 0, now FROM now_ms() AS now"
            " ON CONFLICT (id) DO UPDATE SET bytes = segment.bytes RETURNING state, results",
            (segment, SegmentState.ABANDONED.value),
        )
    )


def _fate(row: tuple[Any, ...]) -> SegmentFate:
    state, results = row
    if state == SegmentState.ABANDONED:
        return Abandoned()
    return Committed(results=() if results is None else decode_results(results))


def _packed(batches: Sequence[SegmentBatch]) -> list[str]:
    """partition ids; producer slots; then one array per fact, with one entry per batch."""
    partitions = sorted({batch.partition for batch in batches})
    slots = sorted({(batch.partition, batch.producer_id) for batch in batches if batch.producer_id != NO_PRODUCER})
    partition_numbers = {partition: number for number, partition in enumerate(partitions, 1)}
    slot_numbers = {slot: number for number, slot in enumerate(slots, 1)}
    columns: Sequence[Sequence[int]] = list(zip(*batches, strict=True)) or [()] * len(SegmentBatch._fields)
    ids, ats, lengths, records, timestamps, appends, producers, epochs, sequences, _ = columns
    return [
        _array(partitions),
        _array(partition for partition, _ in slots),
        _array(producer for _, producer in slots),
        _array(partition_numbers[partition] for partition in ids),
        _array(slot_numbers.get(slot, _NO_SLOT) for slot in zip(ids, producers, strict=True)),
        *map(_array, (ats, lengths, records, timestamps, appends, epochs, sequences)),
    ]


def _array(numbers: Iterable[int]) -> str:
    return "{" + ",".join(map(str, numbers)) + "}"
