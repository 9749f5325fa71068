"""Dead segments, forgotten producers, and who does the chores."""

import json
import sqlite3
from collections.abc import Sequence

from lakestream.metadata.rules.segment_state import ABANDONED_KEPT_MS, SegmentState
from lakestream.metadata.rules.wal_copies import SECOND_MS, SPANS_BACK_MAX
from lakestream.metadata.store import WalSize
from lakestream.model.place import SegmentId
from lakestream.model.topic import TopicId


def deletable_segments(connection: sqlite3.Connection, grace_ms: int, limit: int, now_ms: int) -> list[SegmentId]:
    rows = connection.execute(
        "SELECT id FROM segment AS dead WHERE dead_since_ms < ? AND object_deleted_ms IS NULL AND NOT EXISTS"
        " (SELECT 1 FROM segment AS living WHERE living.receipted_in = dead.id AND living.dead_since_ms IS NULL)"
        " ORDER BY dead_since_ms, id LIMIT ?",
        (now_ms - grace_ms, limit),
    )
    return [row[0] for row in rows]


def wal_size(connection: sqlite3.Connection) -> WalSize:
    row = connection.execute(
        "SELECT (SELECT coalesce(sum(bytes), 0) FROM segment WHERE object_deleted_ms IS NULL),"
        " (SELECT coalesce(sum(length), 0) FROM span)"
    ).fetchone()
    return WalSize._make(row)


def wal_copies(connection: sqlite3.Connection) -> dict[TopicId, int]:
    rows = connection.execute(
        "WITH RECURSIVE living (second) AS MATERIALIZED"
        " (SELECT DISTINCT decided_ms / :second FROM segment WHERE state = :committed),"
        " oldest (ms) AS MATERIALIZED (SELECT min(second) * :second FROM living),"
        " looked_at (partition_id, last_offset, bytes, committed_ms, back) AS ("
        " SELECT partition_id, last_offset, file_span.bytes, committed_ms, 1 FROM partition JOIN file_span"
        " ON partition_id = partition.id"
        " AND last_offset = (SELECT max(last_offset) FROM file_span WHERE partition_id = partition.id)"
        " WHERE committed_ms >= (SELECT ms FROM oldest)"
        " UNION ALL SELECT older.partition_id, older.last_offset, older.bytes, older.committed_ms, back + 1"
        " FROM looked_at JOIN file_span AS older ON older.partition_id = looked_at.partition_id"
        " AND older.last_offset = (SELECT max(last_offset) FROM file_span"
        " WHERE partition_id = looked_at.partition_id AND last_offset < looked_at.last_offset)"
        " WHERE older.committed_ms >= (SELECT ms FROM oldest) AND back < :back)"
        " SELECT topic_id, sum(looked_at.bytes) FROM looked_at JOIN partition ON partition.id = partition_id"
        " WHERE committed_ms / :second IN (SELECT second FROM living)"
        " OR committed_ms / :second - 1 IN (SELECT second FROM living) GROUP BY topic_id",
        {"second": SECOND_MS, "committed": SegmentState.COMMITTED, "back": SPANS_BACK_MAX},
    )
    return dict(rows.fetchall())


def forget_segments(connection: sqlite3.Connection, segments: Sequence[SegmentId], now_ms: int) -> None:
    """Committed rows go with their object. Abandoned ones stay for a while more and go at a later call."""
    asked = json.dumps(list(segments))
    connection.execute(
        "UPDATE segment SET object_deleted_ms = ? WHERE id IN (SELECT value FROM json_each(?)) AND state = ?"
        " AND object_deleted_ms IS NULL",
        (now_ms, asked, SegmentState.ABANDONED),
    )
    connection.execute(
        "DELETE FROM segment WHERE id IN (SELECT value FROM json_each(?)) AND state = ? AND dead_since_ms IS NOT NULL",
        (asked, SegmentState.COMMITTED),
    )
    connection.execute("DELETE FROM segment WHERE object_deleted_ms < ?", (now_ms - ABANDONED_KEPT_MS,))


def unknown_segments(connection: sqlite3.Connection, segments: Sequence[SegmentId]) -> list[SegmentId]:
    rows = connection.execute(
        "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM segment) ORDER BY key",
        (json.dumps(list(segments)),),
    )
    return [row[0] for row in rows]


def take_producer_ids(connection: sqlite3.Connection, count: int) -> range:
    (first,) = connection.execute("SELECT next_producer_id FROM cluster").fetchone()
    connection.execute("UPDATE cluster SET next_producer_id = next_producer_id + ?", (count,))
    return range(first, first + count)


def forget_producers(connection: sqlite3.Connection, idle_for_ms: int, limit: int, now_ms: int) -> int:
    return connection.execute(
        "DELETE FROM producer WHERE (partition_id, producer_id) IN"
        " (SELECT partition_id, producer_id FROM producer WHERE written_ms < ? LIMIT ?)",
        (now_ms - idle_for_ms, limit),
    ).rowcount


def take_duty(connection: sqlite3.Connection, name: str, holder: str, ttl_ms: int, now_ms: int) -> bool:
    taken = connection.execute(
        "INSERT INTO duty VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
        " SET holder = excluded.holder, until_ms = excluded.until_ms"
        " WHERE holder = excluded.holder OR until_ms <= ? OR until_ms > excluded.until_ms",
        (name, holder, now_ms + ttl_ms, now_ms),
    )
    return taken.rowcount == 1
