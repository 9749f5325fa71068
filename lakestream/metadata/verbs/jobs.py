"""Compaction: the lease, the debts, and jobs except for their commit (job_commit.py of each store)."""

import json
from abc import abstractmethod
from collections.abc import Collection, Sequence

from lakestream.metadata.job_store import COMPACTION, JobState, compaction_fenced
from lakestream.metadata.verbs.running import Verbs, reads, transacts, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, maybe_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.broker import LEASE_MS_MAX
from lakestream.model.configs.topic_config import chosen_freshness
from lakestream.model.job import (
    AppendedSpan,
    CompactionLease,
    Debt,
    FileUse,
    JobCommit,
    JobId,
    LeftJob,
    NewJob,
    TabledSpan,
    TrimmedTopic,
    UntabledSpan,
)
from lakestream.model.place import Span, Tail
from lakestream.model.topic import PartitionId, TopicId

_FIRST_SPANS = (
    "SELECT asked.id, base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms,"
    " running_max_timestamp_ms FROM unnest(:partitions::bigint[]) AS asked (id)"
)
_UNTABLED_SPANS = Wording(
    postgres=_FIRST_SPANS + " JOIN LATERAL"
    " (SELECT * FROM span WHERE partition_id = asked.id ORDER BY last_offset LIMIT :spans_max) AS found ON true"
    " ORDER BY asked.id, last_offset",
    sqlite=_FIRST_SPANS + " CROSS JOIN span ON partition_id = asked.id AND last_offset <="
    " (SELECT max(last_offset) FROM"
    " (SELECT last_offset FROM span WHERE partition_id = asked.id ORDER BY last_offset LIMIT :spans_max))"
    " ORDER BY asked.id, last_offset",
)
"""SQLite has no LATERAL, so it looks for the last offset first. CROSS JOIN makes it begin with the partitions."""

_AS_NEW = " ON CONFLICT (topic_id) DO UPDATE SET asked_ms = excluded.asked_ms"
_ASK = Wording(
    postgres="INSERT INTO compaction_ask SELECT id, now_ms()"
    " FROM (SELECT DISTINCT unnest(:topic::bytea[]) AS id) AS asked" + _AS_NEW,
    sqlite="INSERT INTO compaction_ask VALUES (:topic, now_ms())" + _AS_NEW,
)
_NOT_LATER = " AND (asked_ms <= :asked_until_ms OR asked_ms > now_ms())"
_GRANT = Wording(
    postgres="DELETE FROM compaction_ask WHERE topic_id = ANY (:topic::bytea[])" + _NOT_LATER,
    sqlite="DELETE FROM compaction_ask WHERE topic_id = :topic" + _NOT_LATER,
)
_BEGIN = Wording(
    postgres="INSERT INTO job (id, state, token, table_id, created_ms) SELECT id, :planned, :token, table_id, now_ms()"
    " FROM unnest(:id::text[], :table::text[]) AS new (id, table_id)",
    sqlite="INSERT INTO job (id, state, token, table_id, created_ms) VALUES (:id, :planned, :token, :table, now_ms())",
)


class JobVerbs(Verbs):
    """The JobStore of both stores, except for commit_jobs."""

    @abstractmethod
    async def commit_jobs(self, commits: Sequence[JobCommit]) -> list[str]: ...

    async def commit_job(self, commit: JobCommit) -> str:
        return (await self.commit_jobs([commit]))[0]

    # --- the lease -----------------------------------------------------------------------------

    @writes
    def claim_compaction(self, holder: str, ttl_ms: int) -> Steps[CompactionLease | None]:
        """One statement: it inserts the lease, renews our own, or takes over an expired one. PostgreSQL's now_ms()
        moves on within it, so the token of another holder's lease rises without looking at the time again."""
        row = yield from maybe_row(
            "INSERT INTO lease VALUES (:name, :holder, 1, now_ms() + :ttl_ms) ON CONFLICT (name) DO UPDATE SET"
            " holder = excluded.holder, until_ms = excluded.until_ms,"
            " token = lease.token"
            " + CASE WHEN lease.holder = excluded.holder AND lease.until_ms > now_ms() THEN 0 ELSE 1 END"
            " WHERE lease.holder = excluded.holder OR lease.until_ms <= now_ms()"
            " OR lease.until_ms > now_ms() + :lease_ms_max RETURNING token",
            name=COMPACTION,
            holder=holder,
            ttl_ms=ttl_ms,
            lease_ms_max=LEASE_MS_MAX,
        )
        return None if row is None else CompactionLease(holder=holder, token=row[0], ttl_ms=ttl_ms)

    @writes
    def leave_compaction(self, lease: CompactionLease) -> Steps[None]:
        yield from changed(
            "UPDATE lease SET until_ms = 0 WHERE name = :name AND token = :token", name=COMPACTION, token=lease.token
        )

    @reads
    def compaction_holder(self) -> Steps[str | None]:
        row = yield from maybe_row(
            "SELECT holder FROM lease WHERE name = :name AND until_ms > now_ms()"
            " AND until_ms <= now_ms() + :lease_ms_max",
            name=COMPACTION,
            lease_ms_max=LEASE_MS_MAX,
        )
        return None if row is None else str(row[0])

    # --- debts and requests --------------------------------------------------------------------

    @reads
    def topics_without_table(self) -> Steps[list[TopicId]]:
        rows = yield from all_rows(
            "SELECT id FROM topic WHERE NOT EXISTS (SELECT 1 FROM lake_table WHERE topic_id = topic.id)"
            ' ORDER BY name COLLATE "C"'
        )
        return [row[0] for row in rows]

    @reads
    def debts(self) -> Steps[list[Debt]]:
        rows = yield from all_rows(
            "SELECT partition.topic_id, lake_table.id, partition.id, number, log_start, next_offset, tabled_until,"
            " unstable_from, count(*), sum(length)::bigint, min(committed_ms), config FROM partition"
            " JOIN span ON partition_id = partition.id LEFT JOIN topic ON topic.id = partition.topic_id"
            " LEFT JOIN lake_table ON lake_table.topic_id = partition.topic_id WHERE next_offset > tabled_until"
            " GROUP BY partition.id, lake_table.id, topic.id ORDER BY partition.topic_id, number"
        )
        return [
            Debt(
                topic,
                table,
                id,
                number,
                Tail(*tail),
                spans,
                bytes,
                oldest_ms,
                chosen_freshness(json.loads(config)),
            )
            for topic, table, id, number, *tail, spans, bytes, oldest_ms, config in rows
        ]

    @reads
    def untabled_spans(
        self, partitions: Sequence[PartitionId], spans_max: int
    ) -> Steps[dict[PartitionId, tuple[UntabledSpan, ...]]]:
        rows = yield from all_rows(_UNTABLED_SPANS, partitions=list(partitions), spans_max=spans_max)
        found: dict[PartitionId, list[UntabledSpan]] = {id: [] for id in partitions}
        for id, *span, running in rows:
            found[id].append(UntabledSpan(Span._make(span), running))
        return {id: tuple(spans) for id, spans in found.items()}

    @reads
    def tails_of_topic(self, topic: TopicId) -> Steps[dict[PartitionId, Tail]]:
        rows = yield from all_rows(
            "SELECT id, log_start, next_offset, tabled_until, unstable_from FROM partition WHERE topic_id = :topic",
            topic=topic,
        )
        return {id: Tail._make(tail) for id, *tail in rows}

    @writes
    def ask_compaction(self, topics: Sequence[TopicId]) -> Steps[None]:
        yield from for_each({"topic": topics}, _ASK)

    @reads
    def asked_compactions(self) -> Steps[frozenset[TopicId]]:
        rows = yield from all_rows("SELECT topic_id FROM compaction_ask")
        return frozenset(row[0] for row in rows)

    @writes
    def answer_compactions(self, topics: Sequence[TopicId], asked_until_ms: int) -> Steps[None]:
        yield from for_each({"topic": topics}, _GRANT, asked_until_ms=asked_until_ms)

    # --- files the log no longer needs ---------------------------------------------------------

    @reads
    def trimmed_topics(self) -> Steps[list[TrimmedTopic]]:
        rows = yield from all_rows(
            "SELECT partition.topic_id, sum(log_start)::bigint FROM partition JOIN lake_table USING (topic_id)"
            " WHERE log_start > 0 GROUP BY partition.topic_id ORDER BY partition.topic_id"
        )
        return [TrimmedTopic._make(row) for row in rows]

    @reads
    def living_files(self, topic: TopicId) -> Steps[frozenset[str]]:
        rows = yield from all_rows(
            "SELECT DISTINCT file, log_file FROM file_span"
            " WHERE partition_id IN (SELECT id FROM partition WHERE topic_id = :topic)",
            topic=topic,
        )
        return frozenset(file for row in rows for file in row if file is not None)

    # --- files to merge ------------------------------------------------------------------------

    @reads
    def file_uses(self, topic: TopicId) -> Steps[list[FileUse]]:
        rows = yield from all_rows(
            "SELECT file, log_file, sum(bytes)::bigint, min(committed_ms), max(committed_ms) FROM file_span"
            " WHERE partition_id IN (SELECT id FROM partition WHERE topic_id = :topic) GROUP BY file, log_file",
            topic=topic,
        )
        return sorted(map(FileUse._make, rows), key=lambda use: (use.first_ms, use.last_ms, use.file))

    @reads
    def spans_in_files(self, topic: TopicId, files: Collection[str]) -> Steps[list[TabledSpan]]:
        rows = yield from all_rows(
            "SELECT partition.id, number, base_offset, last_offset, file, log_file, rows, max_timestamp_ms"
            " FROM file_span JOIN partition ON partition.id = partition_id WHERE topic_id = :topic"
            " AND (file = ANY (:files) OR log_file = ANY (:files)) ORDER BY partition.id, last_offset",
            topic=topic,
            files=sorted(files),
        )
        return list(map(TabledSpan._make, rows))

    @reads
    def appended_spans(self, topic: TopicId) -> Steps[list[AppendedSpan]]:
        rows = yield from all_rows(
            "SELECT number, base_offset, last_offset, file FROM partition JOIN file_span ON partition_id = partition.id"
            " WHERE topic_id = :topic AND encoding IS NOT NULL ORDER BY number, last_offset",
            topic=topic,
        )
        return [AppendedSpan._make(row) for row in rows]

    # --- jobs ----------------------------------------------------------------------------------

    @transacts
    def begin_jobs(self, token: int, jobs: Sequence[NewJob]) -> Steps[None]:
        yield from check_token(token)
        columns = {"id": [job.id for job in jobs], "table": [job.table for job in jobs]}
        yield from for_each(columns, _BEGIN, planned=JobState.PLANNED, token=token)

    @writes
    def drop_job(self, job: JobId) -> Steps[bool]:
        """The update waits for a running commit, and then sees the job's final state."""
        yield from changed(
            "UPDATE job SET state = :dropped, finished_ms = now_ms() WHERE id = :job AND state = :planned",
            dropped=JobState.DROPPED,
            job=job,
            planned=JobState.PLANNED,
        )
        row = yield from maybe_row("SELECT state FROM job WHERE id = :job", job=job)
        return row is not None and row[0] == JobState.DROPPED

    @writes
    def drop_left_jobs(self, token: int) -> Steps[list[LeftJob]]:
        rows = yield from all_rows(
            "UPDATE job SET state = :dropped, finished_ms = now_ms() WHERE state = :planned AND token < :token"
            " RETURNING id, table_id",
            dropped=JobState.DROPPED,
            planned=JobState.PLANNED,
            token=token,
        )
        return [LeftJob._make(row) for row in rows]

    @reads
    def old_dropped_jobs(self, age_ms: int, limit: int) -> Steps[list[LeftJob]]:
        rows = yield from all_rows(
            "SELECT id, table_id FROM job WHERE state = :dropped AND finished_ms < now_ms() - :age_ms"
            " ORDER BY finished_ms LIMIT :limit",
            dropped=JobState.DROPPED,
            age_ms=age_ms,
            limit=limit,
        )
        return [LeftJob._make(row) for row in rows]

    @writes
    def forget_jobs(self, age_ms: int, dropped: Sequence[JobId]) -> Steps[None]:
        yield from changed(
            "DELETE FROM job WHERE (state = :committed AND finished_ms < now_ms() - :age_ms)"
            " OR (state = :dropped AND id = ANY (:ids))",
            committed=JobState.COMMITTED,
            age_ms=age_ms,
            dropped=JobState.DROPPED,
            ids=list(dropped),
        )


def check_token(token: int) -> Steps[None]:
    """Raises CompactionFenced unless this token gives the right to compact now. A shared lock: a new holder waits."""
    held = yield from maybe_row(
        "SELECT 1 FROM lease WHERE name = :name AND token = :token AND until_ms > now_ms() FOR SHARE",
        name=COMPACTION,
        token=token,
    )
    if held is None:
        raise compaction_fenced(token)
