"""commit_jobs: move the pointers of tables and the places of their topics in one transaction.

The commit locks partitions first, so that commits to them wait; then segments, the lease, the jobs, the tables, each
kind in the order of ids. A repeated commit that finds the jobs committed locks nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from lakestream.metadata.job_store import JobState, answer_of, job_ended
from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.running import PostgresDatabase, PostgresRun, drive
from lakestream.metadata.rules.merging import merged_rows
from lakestream.metadata.rules.missing import table_moved, unknown_partition
from lakestream.metadata.rules.tabling import FileSpanRow, ReplacedSpan, check_range, file_span_rows, spans_by_partition
from lakestream.metadata.verbs.appending import pass_appended
from lakestream.metadata.verbs.dropping import release
from lakestream.metadata.verbs.jobs import JobVerbs, check_token
from lakestream.model.errors import UnknownPartition
from lakestream.model.job import JobCommit, JobId, NewFileSpan
from lakestream.model.place import SegmentId, Tail
from lakestream.model.table_errors import LedgerConflict
from lakestream.model.topic import PartitionId


class PostgresJobs(JobVerbs):
    """The JobStore of a PostgresStore."""

    def __init__(self, *, write: PostgresRun, read: PostgresRun) -> None:
        super().__init__(PostgresDatabase(write=write, read=read))
        self._write = write

    async def commit_jobs(self, commits: Sequence[JobCommit]) -> list[str]:
        return await self._write(lambda c: _commit(c, commits))


async def _commit(connection: Connection, commits: Sequence[JobCommit]) -> list[str]:
    if (known := await _known_answers(connection, commits)) is not None:
        return known
    async with connection.transaction():
        tails = await _locked_tails(connection, _partitions_of(commits))
        if (known := await _known_answers(connection, commits)) is not None:
            return known  # our own first attempt committed them, and held the partitions' locks until now
        released: Counter[SegmentId] = Counter()
        for commit in commits:
            released += await _take_over(connection, commit, tails)
        await drive(connection, release(released))
        for commit in commits:
            await drive(connection, check_token(commit.token))
        for commit in sorted(commits, key=lambda commit: commit.job):
            await _lock_planned(connection, commit.job)
        for commit in sorted(commits, key=lambda commit: commit.move.pointer.id):
            await _finish(connection, commit)
    return [commit.move.pointer.metadata_location for commit in commits]


def _partitions_of(commits: Sequence[JobCommit]) -> list[PartitionId]:
    return [
        *(tabled.partition for commit in commits for tabled in commit.ranges),
        *(span.partition for commit in commits for span in commit.merged),
    ]


async def _take_over(
    connection: Connection, commit: JobCommit, tails: Mapping[PartitionId, Tail]
) -> Counter[SegmentId]:
    """Replace the places of one job's records. Returns how many spans of each segment are gone."""
    spans = spans_by_partition(commit.spans)
    try:
        _check_ranges(commit, tails, spans)
        await _merge(connection, commit, tails, spans_by_partition(commit.merged))
    except (LedgerConflict, UnknownPartition):
        # A pipeline that lost the lease must learn that, rather than blame the topic.
        await drive(connection, check_token(commit.token))
        raise
    replaced = await _replace_spans(connection, commit)
    await drive(connection, pass_appended([tabled.partition for tabled in commit.ranges]))
    table = commit.move.pointer.id
    rows = [
        row
        for partition, own in spans.items()
        for row in file_span_rows(table, tails[partition], own, replaced.get(partition, ()))
    ]
    await _insert(connection, rows)
    return Counter(span.segment for own in replaced.values() for span in own)


async def _known_answers(connection: Connection, commits: Sequence[JobCommit]) -> list[str] | None:
    """The answers of all jobs, if they were committed. They were committed together, so one tells of all."""
    known = [await _known_answer(connection, commit.job) for commit in commits]
    return [answer for answer in known if answer is not None] if None not in known else None


async def _known_answer(connection: Connection, job: JobId) -> str | None:
    return answer_of(job, await maybe_row(connection, "SELECT state, answer FROM job WHERE id = %s", (job,)))


async def _lock_planned(connection: Connection, job: JobId) -> None:
    """Lock the planned job, so that nobody can drop it."""
    row = await maybe_row(connection, "SELECT state FROM job WHERE id = %s FOR UPDATE", (job,))
    state = None if row is None else row[0]
    if state != JobState.PLANNED:
        raise job_ended(job, state)


async def _locked_tails(connection: Connection, partitions: Sequence[PartitionId]) -> dict[PartitionId, Tail]:
    rows = await all_rows(
        connection,
        "SELECT id, log_start, next_offset, tabled_until, unstable_from FROM partition WHERE id = ANY (%s)"
        " ORDER BY id FOR UPDATE",
        (list(partitions),),
    )
    return {id: Tail._make(tail) for id, *tail in rows}


def _check_ranges(
    commit: JobCommit, tails: Mapping[PartitionId, Tail], spans: Mapping[PartitionId, Sequence[NewFileSpan]]
) -> None:
    for tabled in commit.ranges:
        if tabled.partition not in tails:
            raise unknown_partition(tabled.partition)
        check_range(tails[tabled.partition], tabled, spans.get(tabled.partition, []))


async def _replace_spans(connection: Connection, commit: JobCommit) -> Mapping[PartitionId, Sequence[ReplacedSpan]]:
    """Remove the WAL spans below the ranges' ends, and move the tails. Returns the spans, in offset order."""
    ranges = (
        [tabled.partition for tabled in commit.ranges],
        [tabled.end for tabled in commit.ranges],
    )
    rows = await all_rows(
        connection,
        "WITH gone AS (DELETE FROM span USING unnest(%s::bigint[], %s::bigint[]) AS tabled (id, ending)"
        " WHERE partition_id = tabled.id AND last_offset < tabled.ending RETURNING span.*)"
        " SELECT partition_id, last_offset, segment_id, length, max_timestamp_ms, running_max_timestamp_ms,"
        " committed_ms FROM gone ORDER BY partition_id, last_offset",
        ranges,
    )
    await connection.execute(
        "UPDATE partition SET tabled_until = tabled.ending"
        " FROM unnest(%s::bigint[], %s::bigint[]) AS tabled (id, ending) WHERE partition.id = tabled.id",
        ranges,
    )
    found: dict[PartitionId, list[ReplacedSpan]] = {}
    for partition, *span in rows:
        found.setdefault(partition, []).append(ReplacedSpan._make(span))
    return found


async def _merge(
    connection: Connection,
    commit: JobCommit,
    tails: Mapping[PartitionId, Tail],
    merged: Mapping[PartitionId, Sequence[NewFileSpan]],
) -> None:
    """Replace file spans by spans of the files that they were merged into."""
    if not merged:
        return
    if missing := sorted(merged.keys() - tails.keys()):
        raise unknown_partition(missing[0])
    found = await all_rows(
        connection,
        "SELECT file_span.* FROM file_span JOIN unnest(%s::bigint[], %s::bigint[], %s::bigint[]) AS merged (id, base,"
        " last) ON partition_id = merged.id AND last_offset BETWEEN merged.base AND merged.last"
        " ORDER BY partition_id, last_offset",
        (
            list(merged),
            [own[0].base_offset for own in merged.values()],
            [own[-1].last_offset for own in merged.values()],
        ),
    )
    there: dict[PartitionId, list[FileSpanRow]] = {}
    for row in map(FileSpanRow._make, found):
        there.setdefault(row.partition_id, []).append(row)
    table = commit.move.pointer.id
    changes = [
        merged_rows(table, tails[partition], own, there.get(partition, ()), commit.replaced_files)
        for partition, own in merged.items()
    ]
    gone = [row for change in changes for row in change.gone]
    await connection.execute(
        "DELETE FROM file_span USING unnest(%s::bigint[], %s::bigint[]) AS gone (id, ending)"
        " WHERE partition_id = gone.id AND last_offset = gone.ending",
        ([row.partition_id for row in gone], [row.last_offset for row in gone]),
    )
    await _insert(connection, [row for change in changes for row in change.new])


async def _insert(connection: Connection, rows: Sequence[FileSpanRow]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in FileSpanRow._fields]
    await connection.execute(
        "INSERT INTO file_span SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::text[], %s::text[],"
        " %s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[])",
        columns,
    )


async def _finish(connection: Connection, commit: JobCommit) -> None:
    pointer = commit.move.pointer
    await connection.execute(
        "UPDATE job SET state = %s, finished_ms = now_ms(), answer = %s WHERE id = %s",
        (JobState.COMMITTED, pointer.metadata_location, commit.job),
    )
    moved = await connection.execute(
        "UPDATE lake_table SET metadata_location = %s, changed_ms = now_ms()"
        " WHERE id = %s AND metadata_location = %s AND topic_id = %s",
        (pointer.metadata_location, pointer.id, commit.move.expected_location, pointer.topic),
    )
    if moved.rowcount == 0:
        raise table_moved(pointer)
