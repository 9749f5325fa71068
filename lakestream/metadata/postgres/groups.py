"""Consumer groups in PostgreSQL: the shared verbs, plus the commit and the expiry of offsets."""

from collections.abc import Mapping

from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.running import PostgresDatabase, PostgresRun
from lakestream.metadata.rules.grouping import moved_on, overtaken
from lakestream.metadata.verbs.groups import GroupVerbs
from lakestream.model.group import NO_GENERATION, CommittedOffset, TopicPartition


class PostgresGroups(GroupVerbs):
    """The GroupStore of a PostgresStore."""

    def __init__(self, *, run: PostgresRun) -> None:
        super().__init__(PostgresDatabase(write=run, read=run))
        self._run = run

    async def commit_offsets(
        self,
        group: str,
        epoch: int,
        *,
        generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
        retention_ms: int | None,
    ) -> None:
        await self._run(lambda c: _commit(c, group, epoch, generation, offsets, retention_ms))

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        return await self._run(lambda c: _expire(c, retention_ms, limit))


async def _commit(
    connection: Connection,
    group: str,
    epoch: int,
    generation: int,
    offsets: Mapping[TopicPartition, CommittedOffset],
    retention_ms: int | None,
) -> None:
    """Commit offsets in one statement, in the order of the key, so that two commits cannot deadlock."""
    ordered = sorted(offsets.items())
    row = await maybe_row(
        connection,
        "WITH owned AS (SELECT generation FROM consumer_group WHERE name = %s AND epoch = %s FOR SHARE),"
        " stored AS (INSERT INTO group_offset"
        " SELECT %s, new.*, now_ms(), %s FROM unnest(%s::bytea[], %s::integer[], %s::bigint[], %s::integer[],"
        " %s::bytea[]) AS new WHERE EXISTS (SELECT 1 FROM owned WHERE generation <= %s OR %s)"
        " ON CONFLICT (group_name, topic_id, number) DO UPDATE SET next_offset = excluded.next_offset,"
        " leader_epoch = excluded.leader_epoch, metadata = excluded.metadata, committed_ms = excluded.committed_ms,"
        " retention_ms = excluded.retention_ms)"
        " SELECT generation FROM owned",
        (
            group,
            epoch,
            group,
            retention_ms,
            [partition.topic for partition, _ in ordered],
            [partition.number for partition, _ in ordered],
            [offset.offset for _, offset in ordered],
            [offset.leader_epoch for _, offset in ordered],
            [offset.metadata.encode() for _, offset in ordered],
            generation,
            generation == NO_GENERATION,
        ),
    )
    if row is None:
        raise overtaken(group, epoch)
    if generation != NO_GENERATION and row[0] > generation:
        raise moved_on(group, generation)


async def _expire(connection: Connection, retention_ms: int, limit: int) -> int:
    """Expire offsets, then groups in a transaction of their own: no lock is held while waiting for another.

    If a commit is just replacing a row, the statement waits, reads the row again, and finds that it is new.
    """
    expired = await connection.execute(
        "DELETE FROM group_offset USING ("
        " SELECT group_name, topic_id, number, committed_ms"
        " FROM group_offset JOIN consumer_group ON consumer_group.name = group_name"
        " LEFT JOIN partition USING (topic_id, number) LEFT JOIN topic ON topic.id = topic_id"
        " WHERE partition.id IS NULL OR ("
        " greatest(committed_ms, coalesce(empty_since_ms, 0)) + coalesce(retention_ms, %s) <= now_ms()"
        " AND (occupied = 0 OR (subscribed IS NOT NULL AND NOT subscribed::jsonb ? topic.name)))"
        " LIMIT %s) AS old"
        " WHERE group_offset.group_name = old.group_name AND group_offset.topic_id = old.topic_id"
        " AND group_offset.number = old.number AND group_offset.committed_ms = old.committed_ms",
        (retention_ms, limit),
    )
    async with connection.transaction():
        rows = await all_rows(
            connection,
            "SELECT name FROM consumer_group WHERE occupied = 0"
            " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = name)"
            " AND NOT EXISTS (SELECT 1 FROM share_partition WHERE group_name = name) FOR UPDATE SKIP LOCKED",
        )
        await connection.execute(
            "DELETE FROM consumer_group WHERE name = ANY (%s)"
            " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = name)"
            " AND NOT EXISTS (SELECT 1 FROM share_partition WHERE group_name = name)",
            ([row[0] for row in rows],),
        )
    return expired.rowcount
