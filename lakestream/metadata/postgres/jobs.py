"""Compaction in PostgreSQL: the lease, what there is to do, and jobs but for their commit (job_commit.py)."""

from collections.abc import Sequence

from lakestream.metadata.job_store import COMPACTION, JobState
from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.job_commit import check_token, commit_job
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.tables import Run
from lakestream.model.job import CompactionLease, Debt, JobCommit, JobId, LeftJob, NewJob, TrimmedTopic, UntabledSpan
from lakestream.model.lease import LEASE_MS_MAX
from lakestream.model.place import Span, Tail
from lakestream.model.topic import PartitionId, TopicId


class PostgresJobs:
    """The JobStore of a PostgresStore, which lends it its connections."""

    def __init__(self, *, write: Run, read: Run) -> None:
        self._write = write
        self._read = read

    async def claim_compaction(self, holder: str, ttl_ms: int) -> CompactionLease | None:
        return await self._write(lambda c: _claim(c, holder, ttl_ms))

    async def leave_compaction(self, lease: CompactionLease) -> None:
        await self._write(lambda c: _leave(c, lease))

    async def compaction_holder(self) -> str | None:
        return await self._read(_holder)

    async def topics_without_table(self) -> list[TopicId]:
        return await self._read(_topics_without_table)

    async def debts(self) -> list[Debt]:
        return await self._read(_debts)

    async def untabled_spans(
        self, partitions: Sequence[PartitionId], spans_max: int
    ) -> dict[PartitionId, tuple[UntabledSpan, ...]]:
        return await self._read(lambda c: _untabled_spans(c, partitions, spans_max))

    async def ask_compaction(self, topics: Sequence[TopicId]) -> None:
        await self._write(lambda c: _ask(c, topics))

    async def asked_compactions(self) -> frozenset[TopicId]:
        return await self._read(_asked)

    async def answer_compactions(self, topics: Sequence[TopicId]) -> None:
        await self._write(lambda c: _answer(c, topics))

    async def trimmed_topics(self) -> list[TrimmedTopic]:
        return await self._read(_trimmed_topics)

    async def living_files(self, topic: TopicId) -> frozenset[str]:
        return await self._read(lambda c: _living_files(c, topic))

    async def begin_jobs(self, token: int, jobs: Sequence[NewJob]) -> None:
        await self._write(lambda c: _begin(c, token, jobs))

    async def commit_job(self, commit: JobCommit) -> str:
        return await self._write(lambda c: commit_job(c, commit))

    async def drop_job(self, job: JobId) -> bool:
        return await self._write(lambda c: _drop(c, job))

    async def drop_left_jobs(self, token: int) -> list[LeftJob]:
        return await self._write(lambda c: _drop_left(c, token))

    async def old_dropped_jobs(self, age_ms: int, limit: int) -> list[LeftJob]:
        return await self._read(lambda c: _old_dropped(c, age_ms, limit))

    async def forget_jobs(self, age_ms: int, dropped: Sequence[JobId]) -> None:
        await self._write(lambda c: _forget(c, age_ms, dropped))


# --- the lease ---------------------------------------------------------------------------------------


async def _claim(connection: Connection, holder: str, ttl_ms: int) -> CompactionLease | None:
    """One statement: it inserts the lease, renews our own, or takes over one that has run out. now_ms() moves on within
    it, so the token of another holder's lease rises without looking at the time again."""
    row = await maybe_row(
        connection,
        "INSERT INTO lease VALUES (%s, %s, 1, now_ms() + %s) ON CONFLICT (name) DO UPDATE SET"
        " holder = excluded.holder, until_ms = excluded.until_ms,"
        " token = lease.token"
        " + CASE WHEN lease.holder = excluded.holder AND lease.until_ms > now_ms() THEN 0 ELSE 1 END"
        " WHERE lease.holder = excluded.holder OR lease.until_ms <= now_ms() OR lease.until_ms > now_ms() + %s"
        " RETURNING token",
        (COMPACTION, holder, ttl_ms, LEASE_MS_MAX),
    )
    return None if row is None else CompactionLease(holder=holder, token=row[0], ttl_ms=ttl_ms)


async def _leave(connection: Connection, lease: CompactionLease) -> None:
    await connection.execute("UPDATE lease SET until_ms = 0 WHERE name = %s AND token = %s", (COMPACTION, lease.token))


async def _holder(connection: Connection) -> str | None:
    row = await maybe_row(
        connection,
        "SELECT holder FROM lease WHERE name = %s AND until_ms > now_ms() AND until_ms <= now_ms() + %s",
        (COMPACTION, LEASE_MS_MAX),
    )
    return None if row is None else str(row[0])


# --- what there is to do -----------------------------------------------------------------------------


async def _topics_without_table(connection: Connection) -> list[TopicId]:
    rows = await all_rows(
        connection,
        "SELECT id FROM topic WHERE NOT EXISTS (SELECT 1 FROM lake_table WHERE topic_id = topic.id)"
        ' ORDER BY name COLLATE "C"',
    )
    return [row[0] for row in rows]


async def _debts(connection: Connection) -> list[Debt]:
    rows = await all_rows(
        connection,
        "SELECT partition.topic_id, lake_table.id, partition.id, number, log_start, next_offset, tabled_until,"
        " count(*), sum(length)::bigint, min(committed_ms) FROM partition JOIN span ON partition_id = partition.id"
        " LEFT JOIN lake_table ON lake_table.topic_id = partition.topic_id WHERE next_offset > tabled_until"
        " GROUP BY partition.id, lake_table.id ORDER BY partition.topic_id, number",
    )
    return [
        Debt(topic, table, id, number, Tail(log_start, next_offset, tabled_until), *counts)
        for topic, table, id, number, log_start, next_offset, tabled_until, *counts in rows
    ]


async def _untabled_spans(
    connection: Connection, partitions: Sequence[PartitionId], spans_max: int
) -> dict[PartitionId, tuple[UntabledSpan, ...]]:
    rows = await all_rows(
        connection,
        "SELECT asked.id, base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms,"
        " running_max_timestamp_ms FROM unnest(%s::bigint[]) AS asked (id) JOIN LATERAL"
        " (SELECT * FROM span WHERE partition_id = asked.id ORDER BY last_offset LIMIT %s) AS found ON true"
        " ORDER BY asked.id, last_offset",
        (list(partitions), spans_max),
    )
    found: dict[PartitionId, list[UntabledSpan]] = {id: [] for id in partitions}
    for id, *span, running in rows:
        found[id].append(UntabledSpan(Span._make(span), running))
    return {id: tuple(spans) for id, spans in found.items()}


async def _ask(connection: Connection, topics: Sequence[TopicId]) -> None:
    await connection.execute(
        "INSERT INTO compaction_ask SELECT id, now_ms() FROM unnest(%s::bytea[]) AS asked (id) ON CONFLICT DO NOTHING",
        (list(topics),),
    )


async def _asked(connection: Connection) -> frozenset[TopicId]:
    return frozenset(row[0] for row in await all_rows(connection, "SELECT topic_id FROM compaction_ask"))


async def _answer(connection: Connection, topics: Sequence[TopicId]) -> None:
    await connection.execute("DELETE FROM compaction_ask WHERE topic_id = ANY (%s::bytea[])", (list(topics),))


async def _trimmed_topics(connection: Connection) -> list[TrimmedTopic]:
    rows = await all_rows(
        connection,
        "SELECT topic_id, sum(log_start)::bigint FROM partition JOIN lake_table USING (topic_id)"
        " WHERE log_start > 0 GROUP BY topic_id ORDER BY topic_id",
    )
    return [TrimmedTopic._make(row) for row in rows]


async def _living_files(connection: Connection, topic: TopicId) -> frozenset[str]:
    rows = await all_rows(
        connection,
        "SELECT DISTINCT file, log_file FROM file_span"
        " WHERE partition_id IN (SELECT id FROM partition WHERE topic_id = %s)",
        (topic,),
    )
    return frozenset(file for row in rows for file in row if file is not None)


# --- jobs --------------------------------------------------------------------------------------------


async def _begin(connection: Connection, token: int, jobs: Sequence[NewJob]) -> None:
    async with connection.transaction():
        await check_token(connection, token)
        await connection.execute(
            "INSERT INTO job (id, state, token, table_id, created_ms)"
            " SELECT id, %s, %s, table_id, now_ms() FROM unnest(%s::text[], %s::text[]) AS new (id, table_id)",
            (JobState.PLANNED, token, [job.id for job in jobs], [job.table for job in jobs]),
        )


async def _drop(connection: Connection, job: JobId) -> bool:
    """The update waits for a commit that is under way, and then finds what that made of the job."""
    await connection.execute(
        "UPDATE job SET state = %s, finished_ms = now_ms() WHERE id = %s AND state = %s",
        (JobState.DROPPED, job, JobState.PLANNED),
    )
    row = await maybe_row(connection, "SELECT state FROM job WHERE id = %s", (job,))
    return row is not None and row[0] == JobState.DROPPED


async def _drop_left(connection: Connection, token: int) -> list[LeftJob]:
    rows = await all_rows(
        connection,
        "UPDATE job SET state = %s, finished_ms = now_ms() WHERE state = %s AND token < %s RETURNING id, table_id",
        (JobState.DROPPED, JobState.PLANNED, token),
    )
    return [LeftJob._make(row) for row in rows]


async def _old_dropped(connection: Connection, age_ms: int, limit: int) -> list[LeftJob]:
    rows = await all_rows(
        connection,
        "SELECT id, table_id FROM job WHERE state = %s AND finished_ms < now_ms() - %s ORDER BY finished_ms LIMIT %s",
        (JobState.DROPPED, age_ms, limit),
    )
    return [LeftJob._make(row) for row in rows]


async def _forget(connection: Connection, age_ms: int, dropped: Sequence[JobId]) -> None:
    await connection.execute(
        "DELETE FROM job WHERE (state = %s AND finished_ms < now_ms() - %s) OR (state = %s AND id = ANY (%s))",
        (JobState.COMMITTED, age_ms, JobState.DROPPED, list(dropped)),
    )
