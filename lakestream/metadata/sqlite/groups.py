"""Consumer groups and their offsets in SQLite."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence

from lakestream.metadata.rules.grouping import NO_STATE_KIND, overtaken, written_topics
from lakestream.metadata.sqlite.brokers import check_lease
from lakestream.metadata.sqlite.group_commits import OffsetsAsk, commit_all
from lakestream.metadata.sqlite.tables import Run
from lakestream.metadata.sqlite.writer import Writer
from lakestream.model.broker import BrokerLease
from lakestream.model.errors import LakestreamError
from lakestream.model.group import (
    CommittedOffset,
    GroupClaim,
    GroupKind,
    ListedGroup,
    PartitionLag,
    SavedGroup,
    TopicPartition,
)

_SHOWN = (
    "SELECT topic_id, number, group_offset.next_offset, leader_epoch, metadata"
    " FROM group_offset JOIN partition USING (topic_id, number) WHERE group_name = ?"
)

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


class SqliteGroups:
    """The GroupStore of a SqliteStore, which lends it its writer and its reader."""

    def __init__(self, *, writer: Writer, read: Run, now_ms: Callable[[], int]) -> None:
        self._writer = writer
        self._write = writer.run_quietly
        self._read = read
        self._now = now_ms

    async def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        return await self._write(lambda c: _claim(c, group, lease, create, self._now()))

    async def save_group(self, group: str, epoch: int, saved: SavedGroup) -> None:
        await self._write(lambda c: _save(c, group, epoch, saved, self._now()))

    def commit_offsets(
        self,
        group: str,
        epoch: int,
        *,
        generation: int,
        offsets: Mapping[TopicPartition, CommittedOffset],
        retention_ms: int | None,
    ) -> Awaitable[None]:
        """Those that wait at the same time, of whatever groups, are two statements."""
        ask = OffsetsAsk(group, epoch, generation, offsets, retention_ms)
        return self._writer.run_together(self._commit_all, ask)

    def _commit_all(
        self, connection: sqlite3.Connection, asks: Sequence[OffsetsAsk]
    ) -> Sequence[LakestreamError | None]:
        return commit_all(connection, asks, self._now())

    async def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        return await self._read(lambda c: _fetch(c, group, partitions))

    async def lags(self, limit: int) -> list[PartitionLag]:
        return await self._read(lambda c: _lags(c, limit))

    async def delete_offsets(self, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> None:
        await self._write(lambda c: _delete_offsets(c, group, epoch, partitions))

    async def list_groups(self) -> list[ListedGroup]:
        return await self._read(_list)

    async def delete_groups(self, owned: Mapping[str, int]) -> frozenset[str]:
        return await self._write(lambda c: _delete_groups(c, owned))

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        return await self._write(lambda c: _expire(c, retention_ms, limit, self._now()))


# --- groups ------------------------------------------------------------------------------------


def _claim(
    connection: sqlite3.Connection, group: str, lease: BrokerLease, create: bool, now_ms: int
) -> GroupClaim | None:
    check_lease(connection, lease.broker_id, lease.incarnation, now_ms)
    row = connection.execute("SELECT state FROM consumer_group WHERE name = ?", (group,)).fetchone()
    if row is None and not create:
        return None
    (epoch,) = connection.execute("UPDATE group_epoch SET last_epoch = last_epoch + 1 RETURNING last_epoch").fetchone()
    connection.execute(
        "INSERT INTO consumer_group VALUES (?, ?, ?, ?, '', 0, 0, NULL, NULL, NULL)"
        " ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner_id = excluded.owner_id",
        (group, epoch, lease.broker_id, NO_STATE_KIND),
    )
    return GroupClaim(epoch=epoch, state=None if row is None else row[0])


def _save(connection: sqlite3.Connection, group: str, epoch: int, saved: SavedGroup, now_ms: int) -> None:
    updated = connection.execute(
        "UPDATE consumer_group SET kind = :kind, protocol_type = :protocol_type, generation = :generation,"
        " occupied = :occupied, subscribed = :subscribed, state = :state,"
        " empty_since_ms = CASE WHEN :occupied THEN NULL WHEN occupied THEN :now_ms ELSE empty_since_ms END"
        " WHERE name = :group AND epoch = :epoch",
        {
            "kind": saved.kind.value,
            "protocol_type": saved.protocol_type,
            "generation": saved.generation,
            "occupied": int(not saved.empty),
            "subscribed": written_topics(saved),
            "state": saved.state,
            "now_ms": now_ms,
            "group": group,
            "epoch": epoch,
        },
    )
    if updated.rowcount == 0:
        raise overtaken(group, epoch)


def _list(connection: sqlite3.Connection) -> list[ListedGroup]:
    rows = connection.execute("SELECT name, kind, protocol_type, occupied FROM consumer_group ORDER BY name")
    return [
        ListedGroup(group=name, kind=GroupKind(kind), protocol_type=protocol_type, empty=not occupied)
        for name, kind, protocol_type, occupied in rows
    ]


def _delete_groups(connection: sqlite3.Connection, owned: Mapping[str, int]) -> frozenset[str]:
    gone = [group for group, epoch in owned.items() if _generation(connection, group, epoch) is not None]
    connection.executemany("DELETE FROM group_offset WHERE group_name = ?", [(group,) for group in gone])
    connection.executemany("DELETE FROM consumer_group WHERE name = ?", [(group,) for group in gone])
    return frozenset(gone)


def _generation(connection: sqlite3.Connection, group: str, epoch: int) -> int | None:
    """None: it is owned under another epoch, or not there."""
    row = connection.execute("SELECT generation FROM consumer_group WHERE name = ? AND epoch = ?", (group, epoch))
    found = row.fetchone()
    return None if found is None else int(found[0])


# --- offsets -----------------------------------------------------------------------------------


def _fetch(
    connection: sqlite3.Connection, group: str, partitions: Sequence[TopicPartition] | None
) -> dict[TopicPartition, CommittedOffset]:
    rows = connection.execute(_SHOWN, (group,))
    found = {
        TopicPartition(topic, number): CommittedOffset(offset, leader_epoch, metadata.decode())
        for topic, number, offset, leader_epoch, metadata in rows
    }
    return found if partitions is None else {one: found[one] for one in partitions if one in found}


def _lags(connection: sqlite3.Connection, limit: int) -> list[PartitionLag]:
    rows = connection.execute(
        "SELECT group_name, topic.name, number,"
        " max(partition.next_offset - max(group_offset.next_offset, partition.log_start), 0)"
        " FROM group_offset JOIN partition USING (topic_id, number) JOIN topic ON topic.id = topic_id"
        " ORDER BY group_name, topic.name, number LIMIT ?",
        (limit,),
    )
    return [PartitionLag._make(row) for row in rows]


def _delete_offsets(
    connection: sqlite3.Connection, group: str, epoch: int, partitions: Sequence[TopicPartition]
) -> None:
    if _generation(connection, group, epoch) is None:
        raise overtaken(group, epoch)
    connection.executemany(
        "DELETE FROM group_offset WHERE group_name = ? AND topic_id = ? AND number = ?",
        [(group, topic, number) for topic, number in partitions],
    )


def _expire(connection: sqlite3.Connection, retention_ms: int, limit: int, now_ms: int) -> int:
    expired = connection.execute(_EXPIRED, {"retention_ms": retention_ms, "now_ms": now_ms, "limit": limit}).fetchall()
    connection.executemany("DELETE FROM group_offset WHERE group_name = ? AND topic_id = ? AND number = ?", expired)
    connection.execute(
        "DELETE FROM consumer_group WHERE occupied = 0"
        " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = consumer_group.name)"
    )
    return len(expired)
