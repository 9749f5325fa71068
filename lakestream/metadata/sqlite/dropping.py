"""Taking spans out of the log, and letting go of the segments they lay in.

A segment counts its spans. With the last of them it is dead for good, and its object goes after a grace.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping

from lakestream.metadata.rules.missing import above_the_end, unknown_partition
from lakestream.metadata.rules.retention import OldSpan, expired_spans
from lakestream.model.place import SegmentId, Tail
from lakestream.model.topic import PartitionId


def delete_records(connection: sqlite3.Connection, partition: PartitionId, before_offset: int, now_ms: int) -> int:
    row = connection.execute(
        "SELECT log_start, next_offset, tabled_until FROM partition WHERE id = ?", (partition,)
    ).fetchone()
    if row is None:
        raise unknown_partition(partition)
    tail = Tail._make(row)
    if before_offset > tail.next_offset:
        raise above_the_end(before_offset, tail)
    if before_offset <= tail.log_start:
        return tail.log_start
    _drop_below(connection, partition, before_offset, now_ms)
    return before_offset


def apply_retention(
    connection: sqlite3.Connection,
    partition: PartitionId,
    *,
    expired_before_ms: int | None,
    bytes_max: int | None,
    spans_max: int,
    now_ms: int,
) -> int:
    row = connection.execute(
        "SELECT bytes, EXISTS (SELECT 1 FROM lake_table WHERE topic_id = partition.topic_id) FROM partition"
        " WHERE id = ?",
        (partition,),
    ).fetchone()
    if row is None:
        return 0
    oldest = connection.execute(
        "SELECT last_offset, bytes, max_timestamp_ms, committed_ms FROM file_span WHERE partition_id = ?1"
        " UNION ALL SELECT last_offset, length, max_timestamp_ms, committed_ms FROM span"
        " WHERE partition_id = ?1 AND NOT ?3 ORDER BY last_offset LIMIT ?2",
        (partition, spans_max, row[1]),
    )
    expired = expired_spans(
        map(OldSpan._make, oldest), row[0], expired_before_ms=expired_before_ms, bytes_max=bytes_max
    )
    if expired:
        _drop_below(connection, partition, expired[-1].last_offset + 1, now_ms)
    return len(expired)


def release_spans_of(connection: sqlite3.Connection, partition: PartitionId, now_ms: int) -> None:
    """The whole partition is going."""
    counts = connection.execute(
        "SELECT segment_id, count(*) FROM span WHERE partition_id = ? GROUP BY segment_id", (partition,)
    )
    release(connection, dict(counts.fetchall()), now_ms)
    connection.execute("DELETE FROM span WHERE partition_id = ?", (partition,))
    connection.execute("DELETE FROM file_span WHERE partition_id = ?", (partition,))


def _drop_below(connection: sqlite3.Connection, partition: PartitionId, log_start: int, now_ms: int) -> None:
    """Raise log_start and drop the spans wholly below it. Table files stay: they are the table's."""
    dropped = connection.execute(
        "SELECT segment_id, length FROM span WHERE partition_id = ? AND last_offset < ?", (partition, log_start)
    ).fetchall()
    connection.execute("DELETE FROM span WHERE partition_id = ? AND last_offset < ?", (partition, log_start))
    from_files = connection.execute(
        "DELETE FROM file_span WHERE partition_id = ? AND last_offset < ? RETURNING bytes", (partition, log_start)
    ).fetchall()
    connection.execute(
        "UPDATE partition SET log_start = max(log_start, ?), bytes = bytes - ? WHERE id = ?",
        (log_start, sum(length for _, length in dropped) + sum(size for (size,) in from_files), partition),
    )
    release(connection, Counter(segment for segment, _ in dropped), now_ms)


def release(connection: sqlite3.Connection, span_counts: Mapping[SegmentId, int], now_ms: int) -> None:
    """So many spans of each segment are gone."""
    connection.executemany(
        "UPDATE segment SET span_count = span_count - ?1,"
        " dead_since_ms = CASE WHEN span_count = ?1 THEN ?2 ELSE dead_since_ms END WHERE id = ?3",
        [(count, now_ms, segment) for segment, count in sorted(span_counts.items())],
    )
