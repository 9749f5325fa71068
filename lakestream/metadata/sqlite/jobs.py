"""Compaction in SQLite: the lease, what there is to do, and jobs but for their commit (job_commit.py)."""

import json
import sqlite3
from collections.abc import Callable, Sequence

from lakestream.metadata.job_store import COMPACTION, JobState
from lakestream.metadata.sqlite.job_commit import check_token, commit_job
from lakestream.metadata.sqlite.tables import Run
from lakestream.model.job import CompactionLease, Debt, JobCommit, JobId, LeftJob, NewJob, TrimmedTopic, UntabledSpan
from lakestream.model.lease import LEASE_MS_MAX
from lakestream.model.place import Span, Tail
from lakestream.model.topic import PartitionId, TopicId


class SqliteJobs:
    """The JobStore of a SqliteStore, which lends it its writer and its reader."""

    def __init__(self, *, write: Run, read: Run, now_ms: Callable[[], int]) -> None:
        self._write = write
        self._read = read
        self._now = now_ms

    async def claim_compaction(self, holder: str, ttl_ms: int) -> CompactionLease | None:
        return await self._write(lambda c: _claim(c, holder, ttl_ms, self._now()))

    async def leave_compaction(self, lease: CompactionLease) -> None:
        await self._write(lambda c: _leave(c, lease))

    async def compaction_holder(self) -> str | None:
        return await self._read(lambda c: _holder(c, self._now()))

    async def topics_without_table(self) -> list[TopicId]:
        return await self._read(_topics_without_table)

    async def debts(self) -> list[Debt]:
        return await self._read(_debts)

    async def untabled_spans(
        self, partitions: Sequence[PartitionId], spans_max: int
    ) -> dict[PartitionId, tuple[UntabledSpan, ...]]:
        return await self._read(lambda c: {id: _untabled_spans(c, id, spans_max) for id in partitions})

    async def ask_compaction(self, topics: Sequence[TopicId]) -> None:
        await self._write(lambda c: _ask(c, topics, self._now()))

    async def asked_compactions(self) -> frozenset[TopicId]:
        return await self._read(lambda c: frozenset(row[0] for row in c.execute("SELECT topic_id FROM compaction_ask")))

    async def answer_compactions(self, topics: Sequence[TopicId]) -> None:
        await self._write(lambda c: _answer(c, topics))

    async def trimmed_topics(self) -> list[TrimmedTopic]:
        return await self._read(_trimmed_topics)

    async def living_files(self, topic: TopicId) -> frozenset[str]:
        return await self._read(lambda c: _living_files(c, topic))

    async def begin_jobs(self, token: int, jobs: Sequence[NewJob]) -> None:
        await self._write(lambda c: _begin(c, token, jobs, self._now()))

    async def commit_job(self, commit: JobCommit) -> str:
        return await self._write(lambda c: commit_job(c, commit, self._now()))

    async def drop_job(self, job: JobId) -> bool:
        return await self._write(lambda c: _drop(c, job, self._now()))

    async def drop_left_jobs(self, token: int) -> list[LeftJob]:
        return await self._write(lambda c: _drop_left(c, token, self._now()))

    async def old_dropped_jobs(self, age_ms: int, limit: int) -> list[LeftJob]:
        return await self._read(lambda c: _old_dropped(c, age_ms, limit, self._now()))

    async def forget_jobs(self, age_ms: int, dropped: Sequence[JobId]) -> None:
        await self._write(lambda c: _forget(c, age_ms, dropped, self._now()))


# --- the lease ---------------------------------------------------------------------------------------


def _claim(connection: sqlite3.Connection, holder: str, ttl_ms: int, now_ms: int) -> CompactionLease | None:
    row = connection.execute("SELECT holder, token, until_ms FROM lease WHERE name = ?", (COMPACTION,)).fetchone()
    known, token, until_ms = row or ("", 0, 0)
    if known != holder and now_ms < until_ms <= now_ms + LEASE_MS_MAX:
        return None
    next_token = token if known == holder and until_ms > now_ms else token + 1
    connection.execute(
        "INSERT OR REPLACE INTO lease VALUES (?, ?, ?, ?)", (COMPACTION, holder, next_token, now_ms + ttl_ms)
    )
    return CompactionLease(holder=holder, token=next_token, ttl_ms=ttl_ms)


def _leave(connection: sqlite3.Connection, lease: CompactionLease) -> None:
    connection.execute("UPDATE lease SET until_ms = 0 WHERE name = ? AND token = ?", (COMPACTION, lease.token))


def _holder(connection: sqlite3.Connection, now_ms: int) -> str | None:
    row = connection.execute(
        "SELECT holder FROM lease WHERE name = ? AND until_ms > ? AND until_ms <= ?",
        (COMPACTION, now_ms, now_ms + LEASE_MS_MAX),
    ).fetchone()
    return None if row is None else str(row[0])


# --- what there is to do -----------------------------------------------------------------------------


def _topics_without_table(connection: sqlite3.Connection) -> list[TopicId]:
    rows = connection.execute(
        "SELECT id FROM topic WHERE NOT EXISTS (SELECT 1 FROM lake_table WHERE topic_id = topic.id) ORDER BY name"
    )
    return [row[0] for row in rows]


def _debts(connection: sqlite3.Connection) -> list[Debt]:
    rows = connection.execute(
        "SELECT partition.topic_id, lake_table.id, partition.id, number, log_start, next_offset, tabled_until,"
        " count(*), sum(length), min(committed_ms) FROM partition JOIN span ON partition_id = partition.id"
        " LEFT JOIN lake_table ON lake_table.topic_id = partition.topic_id WHERE next_offset > tabled_until"
        " GROUP BY partition.id, lake_table.id ORDER BY partition.topic_id, number"
    )
    return [
        Debt(topic, table, id, number, Tail(log_start, next_offset, tabled_until), *counts)
        for topic, table, id, number, log_start, next_offset, tabled_until, *counts in rows
    ]


def _untabled_spans(connection: sqlite3.Connection, partition: PartitionId, spans_max: int) -> tuple[UntabledSpan, ...]:
    rows = connection.execute(
        "SELECT base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms,"
        " running_max_timestamp_ms FROM span WHERE partition_id = ? ORDER BY last_offset LIMIT ?",
        (partition, spans_max),
    )
    return tuple(UntabledSpan(Span._make(span), running) for *span, running in rows)


def _ask(connection: sqlite3.Connection, topics: Sequence[TopicId], now_ms: int) -> None:
    connection.executemany("INSERT OR IGNORE INTO compaction_ask VALUES (?, ?)", [(topic, now_ms) for topic in topics])


def _answer(connection: sqlite3.Connection, topics: Sequence[TopicId]) -> None:
    connection.executemany("DELETE FROM compaction_ask WHERE topic_id = ?", [(topic,) for topic in topics])


def _trimmed_topics(connection: sqlite3.Connection) -> list[TrimmedTopic]:
    rows = connection.execute(
        "SELECT partition.topic_id, sum(log_start) FROM partition JOIN lake_table USING (topic_id)"
        " WHERE log_start > 0 GROUP BY partition.topic_id ORDER BY partition.topic_id"
    )
    return [TrimmedTopic._make(row) for row in rows]


def _living_files(connection: sqlite3.Connection, topic: TopicId) -> frozenset[str]:
    rows = connection.execute(
        "SELECT DISTINCT file, log_file FROM file_span"
        " WHERE partition_id IN (SELECT id FROM partition WHERE topic_id = ?)",
        (topic,),
    )
    return frozenset(file for row in rows for file in row if file is not None)


# --- jobs --------------------------------------------------------------------------------------------


def _begin(connection: sqlite3.Connection, token: int, jobs: Sequence[NewJob], now_ms: int) -> None:
    check_token(connection, token, now_ms)
    connection.executemany(
        "INSERT INTO job (id, state, token, table_id, created_ms) VALUES (?, ?, ?, ?, ?)",
        [(job.id, JobState.PLANNED, token, job.table, now_ms) for job in jobs],
    )


def _drop(connection: sqlite3.Connection, job: JobId, now_ms: int) -> bool:
    connection.execute(
        "UPDATE job SET state = ?, finished_ms = ? WHERE id = ? AND state = ?",
        (JobState.DROPPED, now_ms, job, JobState.PLANNED),
    )
    row = connection.execute("SELECT state FROM job WHERE id = ?", (job,)).fetchone()
    return row is not None and row[0] == JobState.DROPPED


def _drop_left(connection: sqlite3.Connection, token: int, now_ms: int) -> list[LeftJob]:
    rows = connection.execute(
        "UPDATE job SET state = ?, finished_ms = ? WHERE state = ? AND token < ? RETURNING id, table_id",
        (JobState.DROPPED, now_ms, JobState.PLANNED, token),
    )
    return [LeftJob._make(row) for row in rows.fetchall()]


def _old_dropped(connection: sqlite3.Connection, age_ms: int, limit: int, now_ms: int) -> list[LeftJob]:
    rows = connection.execute(
        "SELECT id, table_id FROM job WHERE state = ? AND finished_ms < ? ORDER BY finished_ms LIMIT ?",
        (JobState.DROPPED, now_ms - age_ms, limit),
    )
    return [LeftJob._make(row) for row in rows]


def _forget(connection: sqlite3.Connection, age_ms: int, dropped: Sequence[JobId], now_ms: int) -> None:
    connection.execute("DELETE FROM job WHERE state = ? AND finished_ms < ?", (JobState.COMMITTED, now_ms - age_ms))
    connection.execute(
        "DELETE FROM job WHERE state = ? AND id IN (SELECT value FROM json_each(?))",
        (JobState.DROPPED, json.dumps(list(dropped))),
    )
