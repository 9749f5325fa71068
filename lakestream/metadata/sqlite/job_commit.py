"""commit_job: the table's pointer and the topic's places move in one transaction.

committed before? -> token good? -> each range continues? -> file spans for WAL spans, tails -> pointer -> job
"""

import sqlite3
from collections import Counter

from lakestream.metadata.job_store import COMPACTION, JobState, compaction_fenced
from lakestream.metadata.missing import table_moved, unknown_partition
from lakestream.metadata.sqlite.dropping import release
from lakestream.metadata.tabling import ReplacedSpan, check_range, file_span_rows, spans_by_partition
from lakestream.model.job import JobCommit, JobId, NewFileSpan, TabledRange
from lakestream.model.place import SegmentId, Tail
from lakestream.model.table import TableId
from lakestream.model.table_errors import JobDropped
from lakestream.model.topic import PartitionId


def commit_job(connection: sqlite3.Connection, commit: JobCommit, now_ms: int) -> str:
    if (known := _known_answer(connection, commit.job)) is not None:
        return known
    check_token(connection, commit.token, now_ms)
    spans = spans_by_partition(commit.spans)
    table = commit.move.pointer.id
    released: Counter[SegmentId] = Counter()
    for tabled in commit.ranges:
        released += _take_over(connection, table, tabled, spans.get(tabled.partition, []))
    release(connection, released, now_ms)
    _move_pointer(connection, commit, now_ms)
    location = commit.move.pointer.metadata_location
    connection.execute(
        "UPDATE job SET state = ?, finished_ms = ?, answer = ? WHERE id = ?",
        (JobState.COMMITTED, now_ms, location, commit.job),
    )
    return location


def _known_answer(connection: sqlite3.Connection, job: JobId) -> str | None:
    """What the commit said when it was made; None while the job is only planned."""
    row = connection.execute("SELECT state, answer FROM job WHERE id = ?", (job,)).fetchone()
    if row is None or row[0] == JobState.DROPPED:
        raise JobDropped(f"job {job} was dropped before it was committed: plan its work anew")
    return str(row[1]) if row[0] == JobState.COMMITTED else None


def check_token(connection: sqlite3.Connection, token: int, now_ms: int) -> None:
    """Raises CompactionFenced unless this token gives the right to compact now."""
    held = connection.execute(
        "SELECT 1 FROM lease WHERE name = ? AND token = ? AND until_ms > ?", (COMPACTION, token, now_ms)
    ).fetchone()
    if held is None:
        raise compaction_fenced(token)


def _take_over(
    connection: sqlite3.Connection, table: TableId, tabled: TabledRange, spans: list[NewFileSpan]
) -> "Counter[SegmentId]":
    """Put the range's file spans in the place of its WAL spans. Returns how many spans each segment lost."""
    tail = _tail(connection, tabled.partition)
    check_range(tail, tabled, spans)
    replaced = [
        ReplacedSpan._make(row)
        for row in connection.execute(
            "SELECT last_offset, segment_id, length, max_timestamp_ms, running_max_timestamp_ms, committed_ms FROM span"
            " WHERE partition_id = ? AND last_offset < ? ORDER BY last_offset",
            (tabled.partition, tabled.end),
        )
    ]
    connection.executemany(
        "INSERT INTO file_span VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", file_span_rows(table, tail, spans, replaced)
    )
    connection.execute("DELETE FROM span WHERE partition_id = ? AND last_offset < ?", (tabled.partition, tabled.end))
    connection.execute("UPDATE partition SET tabled_until = ? WHERE id = ?", (tabled.end, tabled.partition))
    return Counter(span.segment for span in replaced)


def _tail(connection: sqlite3.Connection, partition: PartitionId) -> Tail:
    row = connection.execute(
        "SELECT log_start, next_offset, tabled_until FROM partition WHERE id = ?", (partition,)
    ).fetchone()
    if row is None:
        raise unknown_partition(partition)
    return Tail._make(row)


def _move_pointer(connection: sqlite3.Connection, commit: JobCommit, now_ms: int) -> None:
    pointer = commit.move.pointer
    moved = connection.execute(
        "UPDATE lake_table SET metadata_location = ?, changed_ms = ?"
        " WHERE id = ? AND metadata_location = ? AND topic_id = ?",
        (pointer.metadata_location, now_ms, pointer.id, commit.move.expected_location, pointer.topic),
    )
    if moved.rowcount == 0:
        raise table_moved(pointer)
