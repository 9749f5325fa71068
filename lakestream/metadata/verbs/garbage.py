"""The verbs of dead segments, expired producers, and the duties of brokers."""

from collections.abc import Sequence

from lakestream.metadata.rules.segment_state import ABANDONED_KEPT_MS, SegmentState
from lakestream.metadata.rules.wal_copies import MOVED_SECONDS_MAX, SECOND_MS, SPANS_BACK_MAX
from lakestream.metadata.store import WalSize
from lakestream.metadata.verbs.running import Verbs, reads, transacts, writes
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, lock, maybe_row, one_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.place import SegmentId
from lakestream.model.topic import TopicId

_LIVING = (
    "WITH RECURSIVE living (second) AS MATERIALIZED"
    " (SELECT decided_ms / :second FROM segment WHERE state = :committed AND id < 'inline'"
    " UNION SELECT decided_ms / :second - back FROM segment CROSS JOIN unnest(:moved_back::bigint[]) AS earlier (back)"
    " WHERE state = :committed AND receipted_in = id),"
    " oldest (ms) AS MATERIALIZED (SELECT min(second) * :second FROM living),"
)
_LIVED_THEN = (
    " WHERE committed_ms / :second IN (SELECT second FROM living)"
    " OR committed_ms / :second - 1 IN (SELECT second FROM living) GROUP BY topic_id"
)
_WAL_COPIES = Wording(
    postgres=_LIVING + " looked_at AS ("
    " SELECT topic_id, newest.*, 1 AS back FROM partition CROSS JOIN LATERAL"
    " (SELECT partition_id, last_offset, bytes, committed_ms FROM file_span WHERE partition_id = partition.id"
    " ORDER BY last_offset DESC LIMIT 1) AS newest WHERE committed_ms >= (SELECT ms FROM oldest)"
    " UNION ALL SELECT topic_id, older.*, back + 1 FROM looked_at CROSS JOIN LATERAL"
    " (SELECT partition_id, last_offset, bytes, committed_ms FROM file_span"
    " WHERE partition_id = looked_at.partition_id AND last_offset < looked_at.last_offset"
    " ORDER BY last_offset DESC LIMIT 1) AS older"
    " WHERE older.committed_ms >= (SELECT ms FROM oldest) AND back < :back)"
    " SELECT topic_id, sum(bytes)::bigint FROM looked_at" + _LIVED_THEN,
    sqlite=_LIVING + " looked_at (partition_id, last_offset, bytes, committed_ms, back) AS ("
    " SELECT partition_id, last_offset, file_span.bytes, committed_ms, 1 FROM partition JOIN file_span"
    " ON partition_id = partition.id"
    " AND last_offset = (SELECT max(last_offset) FROM file_span WHERE partition_id = partition.id)"
    " WHERE committed_ms >= (SELECT ms FROM oldest)"
    " UNION ALL SELECT older.partition_id, older.last_offset, older.bytes, older.committed_ms, back + 1"
    " FROM looked_at JOIN file_span AS older ON older.partition_id = looked_at.partition_id"
    " AND older.last_offset = (SELECT max(last_offset) FROM file_span"
    " WHERE partition_id = looked_at.partition_id AND last_offset < looked_at.last_offset)"
    " WHERE older.committed_ms >= (SELECT ms FROM oldest) AND back < :back)"
    " SELECT topic_id, sum(looked_at.bytes) FROM looked_at JOIN partition ON partition.id = partition_id" + _LIVED_THEN,
)
"""SQLite has no LATERAL, so it looks for the greatest offset instead of the first row."""

_FORGET_PRODUCERS = Wording(
    postgres="DELETE FROM producer USING"
    " (SELECT partition_id, producer_id FROM producer WHERE written_ms < now_ms() - :idle_for_ms"
    " ORDER BY partition_id, producer_id LIMIT :limit FOR UPDATE SKIP LOCKED) AS idle"
    " WHERE producer.partition_id = idle.partition_id AND producer.producer_id = idle.producer_id",
    sqlite="DELETE FROM producer WHERE (partition_id, producer_id) IN"
    " (SELECT partition_id, producer_id FROM producer WHERE written_ms < now_ms() - :idle_for_ms LIMIT :limit)",
)


class GarbageVerbs(Verbs):
    @reads
    def deletable_segments(self, grace_ms: int, limit: int) -> Steps[list[SegmentId]]:
        rows = yield from all_rows(
            "SELECT id FROM segment AS dead WHERE dead_since_ms < now_ms() - :grace_ms AND object_deleted_ms IS NULL"
            " AND id < 'inline'"
            " AND NOT EXISTS (SELECT 1 FROM segment AS living"
            " WHERE living.receipted_in = dead.id AND living.dead_since_ms IS NULL)"
            " ORDER BY dead_since_ms, id LIMIT :limit",
            grace_ms=grace_ms,
            limit=limit,
        )
        return [row[0] for row in rows]

    @reads
    def wal_size(self) -> Steps[WalSize]:
        row = yield from one_row(
            "SELECT (SELECT coalesce(sum(bytes), 0)::bigint FROM segment WHERE object_deleted_ms IS NULL),"
            " (SELECT coalesce(sum(length), 0)::bigint FROM span WHERE segment_id < 'inline'),"
            " (SELECT coalesce(sum(bytes), 0)::bigint FROM inline_segment)",
        )
        return WalSize._make(row)

    @reads
    def wal_copies(self) -> Steps[dict[TopicId, int]]:
        rows = yield from all_rows(
            _WAL_COPIES,
            second=SECOND_MS,
            committed=SegmentState.COMMITTED.value,
            back=SPANS_BACK_MAX,
            moved_back=list(range(1, MOVED_SECONDS_MAX + 1)),
        )
        return dict(rows)

    @transacts
    def forget_segments(self, segments: Sequence[SegmentId]) -> Steps[None]:
        """Remove the rows of deleted objects. Rows of abandoned segments stay for a while, until a later call."""
        asked = list(segments)
        yield from lock(
            "SELECT 1 FROM segment WHERE id = ANY (:asked) OR object_deleted_ms < now_ms() - :kept_ms"
            " ORDER BY id FOR UPDATE",
            asked=asked,
            kept_ms=ABANDONED_KEPT_MS,
        )
        yield from changed(
            "UPDATE segment SET object_deleted_ms = now_ms()"
            " WHERE id = ANY (:asked) AND state = :abandoned AND object_deleted_ms IS NULL",
            asked=asked,
            abandoned=SegmentState.ABANDONED.value,
        )
        yield from changed(
            "DELETE FROM segment WHERE id = ANY (:asked) AND state = :committed AND dead_since_ms IS NOT NULL",
            asked=asked,
            committed=SegmentState.COMMITTED.value,
        )
        yield from changed(
            "DELETE FROM segment WHERE object_deleted_ms < now_ms() - :kept_ms", kept_ms=ABANDONED_KEPT_MS
        )

    @reads
    def unknown_segments(self, segments: Sequence[SegmentId]) -> Steps[list[SegmentId]]:
        rows = yield from all_rows(
            "SELECT asked.id FROM unnest(:segments::text[]) AS asked (id)"
            " WHERE NOT EXISTS (SELECT 1 FROM segment WHERE segment.id = asked.id)",
            segments=list(segments),
        )
        unknown = {row[0] for row in rows}
        return [segment for segment in segments if segment in unknown]

    @writes
    def take_producer_ids(self, count: int) -> Steps[range]:
        (end,) = yield from one_row(
            "UPDATE cluster SET next_producer_id = next_producer_id + :count RETURNING next_producer_id", count=count
        )
        return range(end - count, end)

    @writes
    def forget_producers(self, idle_for_ms: int, limit: int) -> Steps[int]:
        """PostgreSQL checks the age again once it holds a row's lock: a commit may just have written the row."""
        return (yield from changed(_FORGET_PRODUCERS, idle_for_ms=idle_for_ms, limit=limit))

    @writes
    def take_duty(self, name: str, holder: str, ttl_ms: int) -> Steps[bool]:
        taken = yield from maybe_row(
            "INSERT INTO duty VALUES (:name, :holder, now_ms() + :ttl_ms) ON CONFLICT (name) DO UPDATE"
            " SET holder = excluded.holder, until_ms = excluded.until_ms"
            " WHERE duty.holder = excluded.holder OR duty.until_ms <= now_ms() OR duty.until_ms > now_ms() + :ttl_ms"
            " RETURNING 1",
            name=name,
            holder=holder,
            ttl_ms=ttl_ms,
        )
        return taken is not None
