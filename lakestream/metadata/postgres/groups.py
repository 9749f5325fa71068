"""Consumer groups and their offsets in PostgreSQL.

Claims follow one another, by the row of epochs. Commits hold their group's row, shared: they run beside each other,
and a claim or a save waits for them. Nobody waits for what changes here, so nothing rings the alarm.
"""

from collections.abc import Mapping, Sequence

from lakestream.metadata.postgres.asking import all_rows, maybe_row, one_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.postgres.tables import Run
from lakestream.metadata.rules.fencing import fenced
from lakestream.metadata.rules.grouping import NO_STATE_KIND, moved_on, overtaken, written_topics
from lakestream.model.broker import BrokerLease
from lakestream.model.group import (
    NO_GENERATION,
    CommittedOffset,
    GroupClaim,
    GroupKind,
    ListedGroup,
    PartitionLag,
    SavedGroup,
    TopicPartition,
)


class PostgresGroups:
    """The GroupStore of a PostgresStore, which lends it its connections."""

    def __init__(self, *, run: Run) -> None:
        self._run = run

    async def claim_group(self, group: str, lease: BrokerLease, *, create: bool) -> GroupClaim | None:
        return await self._run(lambda c: _claim(c, group, lease, create))

    async def save_group(self, group: str, epoch: int, saved: SavedGroup) -> None:
        await self._run(lambda c: _save(c, group, epoch, saved))

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

    async def fetch_offsets(
        self, group: str, partitions: Sequence[TopicPartition] | None
    ) -> dict[TopicPartition, CommittedOffset]:
        return await self._run(lambda c: _fetch(c, group, partitions))

    async def lags(self, limit: int) -> list[PartitionLag]:
        return await self._run(lambda c: _lags(c, limit))

    async def delete_offsets(self, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> None:
        await self._run(lambda c: _delete_offsets(c, group, epoch, partitions))

    async def list_groups(self) -> list[ListedGroup]:
        return await self._run(_list)

    async def delete_groups(self, owned: Mapping[str, int]) -> frozenset[str]:
        return await self._run(lambda c: _delete_groups(c, owned))

    async def expire_offsets(self, retention_ms: int, limit: int) -> int:
        return await self._run(lambda c: _expire(c, retention_ms, limit))


# --- groups ------------------------------------------------------------------------------------


async def _claim(connection: Connection, group: str, lease: BrokerLease, create: bool) -> GroupClaim | None:
    async with connection.transaction():
        await _check_lease(connection, lease)
        if not create and await maybe_row(connection, "SELECT 1 FROM consumer_group WHERE name = %s", (group,)) is None:
            return None
        (epoch,) = await one_row(connection, "UPDATE group_epoch SET last_epoch = last_epoch + 1 RETURNING last_epoch")
        (state,) = await one_row(
            connection,
            "INSERT INTO consumer_group VALUES (%s, %s, %s, %s, '', 0, 0, NULL, NULL, NULL)"
            " ON CONFLICT (name) DO UPDATE SET epoch = excluded.epoch, owner_id = excluded.owner_id RETURNING state",
            (group, epoch, lease.broker_id, NO_STATE_KIND),
        )
    return GroupClaim(epoch=epoch, state=state)


async def _check_lease(connection: Connection, lease: BrokerLease) -> None:
    held = await maybe_row(
        connection,
        "SELECT 1 FROM broker WHERE id = %s AND incarnation = %s AND lease_until_ms > now_ms() FOR SHARE",
        (lease.broker_id, lease.incarnation),
    )
    if held is None:
        raise fenced(lease.broker_id, lease.incarnation)


async def _save(connection: Connection, group: str, epoch: int, saved: SavedGroup) -> None:
    occupied = int(not saved.empty)
    updated = await connection.execute(
        "UPDATE consumer_group SET kind = %s, protocol_type = %s, generation = %s, occupied = %s, subscribed = %s,"
        " state = %s, empty_since_ms ="
        " CASE WHEN %s = 1 THEN NULL WHEN occupied = 1 THEN now_ms() ELSE empty_since_ms END"
        " WHERE name = %s AND epoch = %s",
        (
            saved.kind.value,
            saved.protocol_type,
            saved.generation,
            occupied,
            written_topics(saved),
            saved.state,
            occupied,
            group,
            epoch,
        ),
    )
    if updated.rowcount == 0:
        raise overtaken(group, epoch)


async def _list(connection: Connection) -> list[ListedGroup]:
    rows = await all_rows(
        connection, 'SELECT name, kind, protocol_type, occupied FROM consumer_group ORDER BY name COLLATE "C"'
    )
    return [
        ListedGroup(group=name, kind=GroupKind(kind), protocol_type=protocol_type, empty=not occupied)
        for name, kind, protocol_type, occupied in rows
    ]


async def _delete_groups(connection: Connection, owned: Mapping[str, int]) -> frozenset[str]:
    async with connection.transaction():
        rows = await all_rows(
            connection,
            "DELETE FROM consumer_group USING unnest(%s::text[], %s::bigint[]) AS owned (name, epoch)"
            " WHERE consumer_group.name = owned.name AND consumer_group.epoch = owned.epoch"
            " RETURNING consumer_group.name",
            (list(owned), list(owned.values())),
        )
        gone = [row[0] for row in rows]
        await connection.execute("DELETE FROM group_offset WHERE group_name = ANY (%s)", (gone,))
    return frozenset(gone)


# --- offsets -----------------------------------------------------------------------------------


async def _commit(
    connection: Connection,
    group: str,
    epoch: int,
    generation: int,
    offsets: Mapping[TopicPartition, CommittedOffset],
    retention_ms: int | None,
) -> None:
    """One statement. In the order of the key, so that two commits never hold what the other one wants."""
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


async def _fetch(
    connection: Connection, group: str, partitions: Sequence[TopicPartition] | None
) -> dict[TopicPartition, CommittedOffset]:
    rows = await all_rows(
        connection,
        "SELECT topic_id, number, group_offset.next_offset, leader_epoch, metadata"
        " FROM group_offset JOIN partition USING (topic_id, number) WHERE group_name = %s",
        (group,),
    )
    found = {
        TopicPartition(topic, number): CommittedOffset(offset, leader_epoch, metadata.decode())
        for topic, number, offset, leader_epoch, metadata in rows
    }
    return found if partitions is None else {one: found[one] for one in partitions if one in found}


async def _lags(connection: Connection, limit: int) -> list[PartitionLag]:
    rows = await all_rows(
        connection,
        "SELECT group_name, topic.name, number,"
        " greatest(partition.next_offset - greatest(group_offset.next_offset, partition.log_start), 0)"
        " FROM group_offset JOIN partition USING (topic_id, number) JOIN topic ON topic.id = topic_id"
        ' ORDER BY group_name COLLATE "C", topic.name COLLATE "C", number LIMIT %s',
        (limit,),
    )
    return [PartitionLag._make(row) for row in rows]


async def _delete_offsets(connection: Connection, group: str, epoch: int, partitions: Sequence[TopicPartition]) -> None:
    async with connection.transaction():
        owned = await maybe_row(
            connection, "SELECT 1 FROM consumer_group WHERE name = %s AND epoch = %s FOR SHARE", (group, epoch)
        )
        if owned is None:
            raise overtaken(group, epoch)
        await connection.execute(
            "DELETE FROM group_offset USING unnest(%s::bytea[], %s::integer[]) AS gone (topic_id, number)"
            " WHERE group_name = %s AND group_offset.topic_id = gone.topic_id AND group_offset.number = gone.number",
            ([one.topic for one in partitions], [one.number for one in partitions], group),
        )


async def _expire(connection: Connection, retention_ms: int, limit: int) -> int:
    """Offsets first, groups in a transaction of their own: nothing is held while something else is waited for.

    A row that a commit is just replacing is looked at again once that is done, and is found to be new.
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
            " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = name) FOR UPDATE SKIP LOCKED",
        )
        await connection.execute(
            "DELETE FROM consumer_group WHERE name = ANY (%s)"
            " AND NOT EXISTS (SELECT 1 FROM group_offset WHERE group_name = name)",
            ([row[0] for row in rows],),
        )
    return expired.rowcount
