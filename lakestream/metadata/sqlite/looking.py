"""Reads of the log: tails, the spans behind an offset, and lookups by time."""

import json
import sqlite3
from collections.abc import Iterator, Sequence

from lakestream.metadata.rules.times import first_of, later_of
from lakestream.metadata.store import PartitionSize, ViewAsk
from lakestream.model.place import FileSpan, PartitionView, Span, Tail
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import AbortedRange

_SPAN = "base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms"
_FILE_SPAN = (
    "base_offset, last_offset, file, log_file,"
    " (SELECT number FROM partition WHERE id = partition_id), rows, bytes, max_timestamp_ms,"
    " encoding"
)
_TAIL = "log_start, next_offset, tabled_until, unstable_from"


def views(connection: sqlite3.Connection, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
    return [_view(connection, ask) for ask in asks]


def _view(connection: sqlite3.Connection, ask: ViewAsk) -> PartitionView | None:
    row = connection.execute(
        f"SELECT {_TAIL}, appended_until, last_aborted FROM partition WHERE id = ?", (ask.partition,)
    ).fetchone()
    if row is None:
        return None
    *fields, appended_until, last_aborted = row
    tail = Tail._make(fields)
    spans = tuple(_spans(connection, ask, tail.tabled_until, appended_until))
    if last_aborted is None or last_aborted < max(ask.offset, tail.tabled_until) or not spans:
        return PartitionView(tail, spans)
    return PartitionView(tail, spans, tuple(_aborted(connection, ask, tail, spans[-1].last_offset)))


def _aborted(connection: sqlite3.Connection, ask: ViewAsk, tail: Tail, last_offset: int) -> Iterator[AbortedRange]:
    rows = connection.execute(
        "SELECT producer_id, first_offset, last_offset FROM ended_transaction"
        " WHERE partition_id = ? AND last_offset >= ? AND first_offset <= ? AND committed = 0 ORDER BY last_offset",
        (ask.partition, max(ask.offset, tail.tabled_until), last_offset),
    )
    return map(AbortedRange._make, rows)


def _spans(
    connection: sqlite3.Connection, ask: ViewAsk, tabled_until: int, appended_until: int
) -> Sequence[Span | FileSpan]:
    """Table spans lie before WAL spans, except for those of appended files."""
    files: list[FileSpan] = []
    left = ask.spans_max
    if ask.offset < max(tabled_until, appended_until):
        found = connection.execute(
            f"SELECT {_FILE_SPAN} FROM file_span WHERE partition_id = ? AND last_offset >= ?"
            " ORDER BY last_offset LIMIT ?",
            ask,
        )
        files = list(map(FileSpan._make, found))
        left -= len(files) if appended_until <= tabled_until else 0
    spans = connection.execute(
        f"SELECT {_SPAN} FROM span WHERE partition_id = ? AND last_offset >= ? ORDER BY last_offset LIMIT ?",
        (ask.partition, ask.offset, left),
    )
    both: list[Span | FileSpan] = [*files, *map(Span._make, spans)]
    return sorted(both, key=_last_offset)[: ask.spans_max] if appended_until > tabled_until else both


def _last_offset(span: Span | FileSpan) -> int:
    return span.last_offset


def tails(connection: sqlite3.Connection, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
    rows = connection.execute(
        f"SELECT id, bytes, {_TAIL} FROM partition WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(partitions)),),
    )
    return {id: PartitionSize(Tail._make(tail), bytes) for id, bytes, *tail in rows}


def span_at_time(connection: sqlite3.Connection, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
    """Table spans lie before WAL spans, so the table is asked first. Only appended files may lie among the latter."""
    in_table = _file_span_at_time(connection, partition, timestamp_ms)
    if in_table is not None and in_table.encoding is None:
        return in_table
    return first_of(in_table, _wal_span_at_time(connection, partition, timestamp_ms))


def _file_span_at_time(connection: sqlite3.Connection, partition: PartitionId, timestamp_ms: int) -> FileSpan | None:
    """An index finds where the running maximum reaches the time. The span that raised it may have been dropped."""
    row = connection.execute(
        f"SELECT {_FILE_SPAN} FROM file_span WHERE partition_id = ?1 AND max_timestamp_ms >= ?2"
        " AND last_offset >= (SELECT last_offset FROM file_span WHERE partition_id = ?1"
        " AND running_max_timestamp_ms >= ?2 ORDER BY running_max_timestamp_ms, last_offset LIMIT 1)"
        " ORDER BY last_offset LIMIT 1",
        (partition, timestamp_ms),
    ).fetchone()
    return None if row is None else FileSpan._make(row)


def _wal_span_at_time(connection: sqlite3.Connection, partition: PartitionId, timestamp_ms: int) -> Span | None:
    """Bisect to where the running maximum reaches the time. The span there is the answer, unless the span that raised
    the maximum has been dropped. Then the answer is the first later span whose own time is late enough."""
    start = _first_offset_reaching(connection, partition, timestamp_ms)
    row = connection.execute(
        f"SELECT {_SPAN} FROM span WHERE partition_id = ? AND last_offset >= ? AND max_timestamp_ms >= ?"
        " ORDER BY last_offset LIMIT 1",
        (partition, start, timestamp_ms),
    ).fetchone()
    return None if row is None else Span._make(row)


def _first_offset_reaching(connection: sqlite3.Connection, partition: PartitionId, timestamp_ms: int) -> int:
    """The least `last_offset` whose span has a running maximum of `timestamp_ms` or more; above the end if none has."""
    low, high = connection.execute(
        "SELECT coalesce(min(last_offset), 0), coalesce(max(last_offset), 0) + 1 FROM span WHERE partition_id = ?",
        (partition,),
    ).fetchone()
    while low < high:
        middle = (low + high) // 2
        last_offset, running_max = connection.execute(
            "SELECT last_offset, running_max_timestamp_ms FROM span WHERE partition_id = ? AND last_offset >= ?"
            " ORDER BY last_offset LIMIT 1",
            (partition, middle),
        ).fetchone() or (middle, -1)
        low, high = (low, middle) if running_max >= timestamp_ms else (last_offset + 1, high)
    return int(low)


def span_of_max_timestamp(connection: sqlite3.Connection, partition: PartitionId) -> Span | FileSpan | None:
    """Usually the last span's running maximum. If a dropped span raised it, search the other spans."""
    row = connection.execute(
        "SELECT running_max_timestamp_ms, last_offset FROM"
        " (SELECT * FROM (SELECT running_max_timestamp_ms, last_offset FROM span WHERE partition_id = ?1"
        " ORDER BY last_offset DESC LIMIT 1) UNION ALL"
        " SELECT * FROM (SELECT running_max_timestamp_ms, last_offset FROM file_span WHERE partition_id = ?1"
        " ORDER BY last_offset DESC LIMIT 1)) ORDER BY last_offset DESC LIMIT 1",
        (partition,),
    ).fetchone()
    if row is None or row[0] < 0:
        return None
    return span_at_time(connection, partition, row[0]) or _span_of_own_max(connection, partition)


def _span_of_own_max(connection: sqlite3.Connection, partition: PartitionId) -> Span | FileSpan | None:
    """The first span, in table or WAL, whose own greatest time is the greatest of all."""
    in_table = connection.execute(
        f"SELECT {_FILE_SPAN} FROM file_span WHERE partition_id = ? AND max_timestamp_ms >= 0"
        " ORDER BY max_timestamp_ms DESC, last_offset LIMIT 1",
        (partition,),
    ).fetchone()
    in_wal = connection.execute(
        f"SELECT {_SPAN} FROM span WHERE partition_id = ? AND max_timestamp_ms >= 0"
        " ORDER BY max_timestamp_ms DESC, last_offset LIMIT 1",
        (partition,),
    ).fetchone()
    return later_of(FileSpan._make(in_table) if in_table else None, Span._make(in_wal) if in_wal else None)
