"""Dead segments, forgotten producers, and who does the chores."""

from collections.abc import Sequence

from lakestream.metadata.postgres.asking import all_rows, maybe_row, one_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.segment_state import ABANDONED_KEPT_MS, SegmentState
from lakestream.metadata.rules.wal_copies import SECOND_MS, SPANS_BACK_MAX
from lakestream.metadata.store import WalSize
from lakestream.model.place import SegmentId
from lakestream.model.topic import TopicId


async def deletable_segments(connection: Connection, grace_ms: int, limit: int) -> list[SegmentId]:
    rows = await all_rows(
        connection,
        "SELECT id FROM segment AS dead WHERE dead_since_ms < now_ms() - %s AND object_deleted_ms IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM segment AS living"
        " WHERE living.receipted_in = dead.id AND living.dead_since_ms IS NULL)"
        " ORDER BY dead_since_ms, id LIMIT %s",
        (grace_ms, limit),
    )
    return [row[0] for row in rows]


async def wal_size(connection: Connection) -> WalSize:
    stored, needed = await one_row(
        connection,
        "SELECT (SELECT coalesce(sum(bytes), 0) FROM segment WHERE object_deleted_ms IS NULL),"
        " (SELECT coalesce(sum(length), 0) FROM span)",
    )
    return WalSize(int(stored), int(needed))


async def wal_copies(connection: Connection) -> dict[TopicId, int]:
    rows = await all_rows(
        connection,
        "WITH RECURSIVE living (second) AS MATERIALIZED"
        " (SELECT DISTINCT decided_ms / %s FROM segment WHERE state = %s),"
        " oldest (ms) AS MATERIALIZED (SELECT min(second) * %s FROM living),"
        " looked_at AS ("
        " SELECT topic_id, newest.*, 1 AS back FROM partition CROSS JOIN LATERAL"
        " (SELECT partition_id, last_offset, bytes, committed_ms FROM file_span WHERE partition_id = partition.id"
        " ORDER BY last_offset DESC LIMIT 1) AS newest WHERE committed_ms >= (SELECT ms FROM oldest)"
        " UNION ALL SELECT topic_id, older.*, back + 1 FROM looked_at CROSS JOIN LATERAL"
        " (SELECT partition_id, last_offset, bytes, committed_ms FROM file_span"
        " WHERE partition_id = looked_at.partition_id AND last_offset < looked_at.last_offset"
        " ORDER BY last_offset DESC LIMIT 1) AS older"
        " WHERE older.committed_ms >= (SELECT ms FROM oldest) AND back < %s)"
        " SELECT topic_id, sum(bytes)::bigint FROM looked_at"
        " WHERE committed_ms / %s IN (SELECT second FROM living)"
        " OR committed_ms / %s - 1 IN (SELECT second FROM living) GROUP BY topic_id",
        (SECOND_MS, SegmentState.COMMITTED.value, SECOND_MS, SPANS_BACK_MAX, SECOND_MS, SECOND_MS),
    )
    return dict(rows)


async def forget_segments(connection: Connection, segments: Sequence[SegmentId]) -> None:
    """Committed rows go with their object. Abandoned ones stay for a while more and go at a later call."""
    async with connection.transaction():
        await connection.execute(
            "SELECT 1 FROM segment WHERE id = ANY (%s) OR object_deleted_ms < now_ms() - %s ORDER BY id FOR UPDATE",
            (list(segments), ABANDONED_KEPT_MS),
        )
        await connection.execute(
            "UPDATE segment SET object_deleted_ms = now_ms()"
            " WHERE id = ANY (%s) AND state = %s AND object_deleted_ms IS NULL",
            (list(segments), SegmentState.ABANDONED.value),
        )
        await connection.execute(
            "DELETE FROM segment WHERE id = ANY (%s) AND state = %s AND dead_since_ms IS NOT NULL",
            (list(segments), SegmentState.COMMITTED.value),
        )
        await connection.execute("DELETE FROM segment WHERE object_deleted_ms < now_ms() - %s", (ABANDONED_KEPT_MS,))


async def unknown_segments(connection: Connection, segments: Sequence[SegmentId]) -> list[SegmentId]:
    rows = await all_rows(
        connection,
        "SELECT asked.id FROM unnest(%s::text[]) WITH ORDINALITY AS asked (id, n)"
        " WHERE NOT EXISTS (SELECT 1 FROM segment WHERE segment.id = asked.id) ORDER BY n",
        (list(segments),),
    )
    return [row[0] for row in rows]


async def take_producer_ids(connection: Connection, count: int) -> range:
    (end,) = await one_row(
        connection,
        "UPDATE cluster SET next_producer_id = next_producer_id + %s RETURNING next_producer_id",
        (count,),
    )
    return range(end - count, end)


async def forget_producers(connection: Connection, idle_for_ms: int, limit: int) -> int:
    """The age is judged again when a row's lock is had: a commit may just have written it."""
    forgotten = await connection.execute(
        "DELETE FROM producer USING (SELECT partition_id, producer_id FROM producer WHERE written_ms < now_ms() - %s"
        " ORDER BY partition_id, producer_id LIMIT %s FOR UPDATE SKIP LOCKED) AS idle"
        " WHERE producer.partition_id = idle.partition_id AND producer.producer_id = idle.producer_id",
        (idle_for_ms, limit),
    )
    return forgotten.rowcount


async def take_duty(connection: Connection, name: str, holder: str, ttl_ms: int) -> bool:
    taken = await maybe_row(
        connection,
        "INSERT INTO duty VALUES (%s, %s, now_ms() + %s) ON CONFLICT (name) DO UPDATE"
        " SET holder = excluded.holder, until_ms = excluded.until_ms"
        " WHERE duty.holder = excluded.holder OR duty.until_ms <= now_ms() OR duty.until_ms > now_ms() + %s"
        " RETURNING 1",
        (name, holder, ttl_ms, ttl_ms),
    )
    return taken is not None
