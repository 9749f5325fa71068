"""Consumer groups in SQLite: the shared verbs, plus the commit and the expiry of offsets."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence

from lakestream.metadata.sqlite.group_commits import OffsetsAsk, commit_all
from lakestream.metadata.sqlite.running import SqliteDatabase, SqliteRun
from lakestream.metadata.sqlite.writer import SqliteWriter
from lakestream.metadata.verbs.groups import GroupVerbs
from lakestream.model.errors import LakestreamError
from lakestream.model.group import CommittedOffset, TopicPartition

_EXPIRED = """
    SELECT group_name, topic_id, number
    FROM group_offset JOIN consumer_group ON consumer_group.name = group_name
        LEFT JOIN partition USING (topic_id, number) LEFT JOIN topic ON topic.id = topic_id
    WHERE partition.id IS NULL OR (
        max(committed_ms, coalesce(empty_since_ms, 0)) + coalesce(retention_ms, :retention_ms) <= :now_ms
        AND (occupied = 0 OR (subscribed IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM json_each(subscribed) WHERE value = topic.name))))
    LIMIT :limit
"""


class SqliteGroups(GroupVerbs):
    """The GroupStore of a SqliteStore."""

    def __init__(self, *, writer: SqliteWriter, read: SqliteRun, now_ms: Callable[[], int]) -> None:
        super().__init__(SqliteDatabase(write=writer.run_quietly, read=read, now_ms=now_ms))
        self._writer = writer
        self._now = now_ms

    def commit_offsets(
        self,
        group: str,
        epoch: int,
        *,
        generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
        retention_ms: int | None,
    ) -> Awaitable[None]:
        """Commits that wait at the same time, of any groups, share two statements."""
        ask = OffsetsAsk(group, epoch, generation, offsets, retention_ms)
        return self._writer.run_together(self._commit_all, ask)

    def _commit_all(
        self, connection: sqlite3.Connection, asks: Sequence[OffsetsAsk]
    ) -> Sequence[LakestreamError | None]:
        return commit_all(connection, asks, self._now())

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        return await self._writer.run_quietly(lambda c: _expire(c, retention_ms, limit, self._now()))


def _expire(connection: sqlite3.Connection, retention_ms: int, limit: int, now_ms: int) -> int:
    expired = connection.execute(_EXPIRED, {"retention_ms": retention_ms, "now_ms": now_ms, "limit": limit}).fetchall()
    connection.executemany("DELETE FROM group_offset WHERE group_name = ? AND topic_id = ? AND number = ?", expired)
    connection.execute(
        "DELETE FROM consumer_group WHERE occupied = 0"
        " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = consumer_group.name)"
        " AND NOT EXISTS (SELECT 1 FROM share_partition WHERE group_name = consumer_group.name)"
    )
    return len(expired)
