"""commit_jobs: move the pointers of tables and the places of their topics in one transaction.

committed before? -> token good? -> each range continues? -> file spans for WAL spans, tails -> pointer -> job
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence

from lakestream.metadata.job_store import JobState, answer_of
from lakestream.metadata.rules.merging import merged_rows
from lakestream.metadata.rules.missing import table_moved, unknown_partition
from lakestream.metadata.rules.tabling import FileSpanRow, ReplacedSpan, check_range, file_span_rows, spans_by_partition
from lakestream.metadata.sqlite.running import SqliteDatabase, SqliteRun, drive
from lakestream.metadata.verbs.appending import pass_appended
from lakestream.metadata.verbs.dropping import release
from lakestream.metadata.verbs.jobs import JobVerbs, check_token
from lakestream.model.job import JobCommit, JobId, TabledRange
from lakestream.model.place import Tail
from lakestream.model.topic import PartitionId

_INSERT = "INSERT INTO file_span VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


class SqliteJobs(JobVerbs):
    """The JobStore of a SqliteStore."""

    def __init__(self, *, write: SqliteRun, read: SqliteRun, now_ms: Callable[[], int]) -> None:
        super().__init__(SqliteDatabase(write=write, read=read, now_ms=now_ms))
        self._write = write
        self._now = now_ms

    async def commit_jobs(self, commits: Sequence[JobCommit]) -> list[str]:
        return await self._write(lambda c: [_commit(c, commit, self._now()) for commit in commits])


def _commit(connection: sqlite3.Connection, commit: JobCommit, now_ms: int) -> str:
    if (known := _known_answer(connection, commit.job)) is not None:
        return known
    drive(connection, check_token(commit.token), now_ms)
    replaced = _take_over(connection, commit)
    _merge(connection, commit)
    drive(connection, pass_appended([tabled.partition for tabled in commit.ranges]), now_ms)
    drive(connection, release(Counter(span.segment for span in replaced)), now_ms)
    _move_pointer(connection, commit, now_ms)
    location = commit.move.pointer.metadata_location
    connection.execute(
        "UPDATE job SET state = ?, finished_ms = ?, answer = ? WHERE id = ?",
        (JobState.COMMITTED, now_ms, location, commit.job),
    )
    return location


def _known_answer(connection: sqlite3.Connection, job: JobId) -> str | None:
    return answer_of(job, connection.execute("SELECT state, answer FROM job WHERE id = ?", (job,)).fetchone())


def _take_over(connection: sqlite3.Connection, commit: JobCommit) -> list[ReplacedSpan]:
    """Replace the ranges' WAL spans by their file spans. Returns the WAL spans. A topic may have hundreds of
    partitions, so statements cover all of them at once where possible."""
    tails = _tails(connection, [tabled.partition for tabled in commit.ranges])
    spans = spans_by_partition(commit.spans)
    rows: list[FileSpanRow] = []
    all_replaced: list[ReplacedSpan] = []
    for tabled in commit.ranges:
        if (tail := tails.get(tabled.partition)) is None:
            raise unknown_partition(tabled.partition)
        own = spans.get(tabled.partition, [])
        check_range(tail, tabled, own)
        replaced = _without_wal_spans(connection, tabled)
        rows += file_span_rows(commit.move.pointer.id, tail, own, replaced)
        all_replaced += replaced
    connection.executemany(_INSERT, rows)
    connection.executemany(
        "UPDATE partition SET tabled_until = ? WHERE id = ?",
        [(tabled.end, tabled.partition) for tabled in commit.ranges],
    )
    return all_replaced


def _merge(connection: sqlite3.Connection, commit: JobCommit) -> None:
    """Replace file spans by spans of the files that they were merged into."""
    spans = spans_by_partition(commit.merged)
    tails = _tails(connection, list(spans))
    for partition, own in spans.items():
        if (tail := tails.get(partition)) is None:
            raise unknown_partition(partition)
        there = connection.execute(
            "SELECT * FROM file_span WHERE partition_id = ? AND last_offset BETWEEN ? AND ? ORDER BY last_offset",
            (partition, own[0].base_offset, own[-1].last_offset),
        )
        rows = merged_rows(
            commit.move.pointer.id, tail, own, list(map(FileSpanRow._make, there)), commit.replaced_files
        )
        connection.executemany(
            "DELETE FROM file_span WHERE partition_id = ? AND last_offset = ?",
            [(partition, old.last_offset) for old in rows.gone],
        )
        connection.executemany(_INSERT, rows.new)


def _tails(connection: sqlite3.Connection, partitions: Sequence[PartitionId]) -> dict[PartitionId, Tail]:
    found = connection.execute(
        "SELECT id, log_start, next_offset, tabled_until, unstable_from FROM partition"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(partitions)),),
    )
    return {id: Tail._make(tail) for id, *tail in found}


def _without_wal_spans(connection: sqlite3.Connection, tabled: TabledRange) -> list[ReplacedSpan]:
    """Remove the WAL spans below the range's end. Returns them in offset order."""
    gone = connection.execute(
        "DELETE FROM span WHERE partition_id = ? AND last_offset < ? RETURNING"
        " last_offset, segment_id, length, max_timestamp_ms, running_max_timestamp_ms, committed_ms",
        (tabled.partition, tabled.end),
    )
    return sorted(map(ReplacedSpan._make, gone.fetchall()))


def _move_pointer(connection: sqlite3.Connection, commit: JobCommit, now_ms: int) -> None:
    pointer = commit.move.pointer
    moved = connection.execute(
        "UPDATE lake_table SET metadata_location = ?, changed_ms = ?"
        " WHERE id = ? AND metadata_location = ? AND topic_id = ?",
        (pointer.metadata_location, now_ms, pointer.id, commit.move.expected_location, pointer.topic),
    )
    if moved.rowcount == 0:
        raise table_moved(pointer)
