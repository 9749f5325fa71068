"""Remove spans from the log, and release the segments that held them.

A segment counts its spans. It is dead for good when the last one is gone, and its object is deleted after a grace. The
partition's row is locked first, so that commits to it wait. Segments are locked in the order of their ids.
"""

from collections import Counter
from collections.abc import Mapping

from lakestream.metadata.rules.missing import above_the_end, unknown_partition
from lakestream.metadata.rules.retention import OldSpan, expired_spans
from lakestream.metadata.verbs.running import Verbs, transacts
from lakestream.metadata.verbs.steps import Steps, all_rows, changed, for_each, lock, maybe_row
from lakestream.metadata.verbs.wording import Wording
from lakestream.model.place import SegmentId, Tail, is_inline
from lakestream.model.topic import PartitionId

_RELEASE = Wording(
    postgres="UPDATE segment SET span_count = span_count - released.count,"
    " dead_since_ms = CASE WHEN span_count = released.count THEN now_ms() ELSE dead_since_ms END"
    " FROM unnest(:segment::text[], :count::bigint[]) AS released (id, count) WHERE segment.id = released.id",
    sqlite="UPDATE segment SET span_count = span_count - :count,"
    " dead_since_ms = CASE WHEN span_count = :count THEN now_ms() ELSE dead_since_ms END WHERE id = :segment",
)


class DroppingVerbs(Verbs):
    @transacts
    def delete_records(self, partition: PartitionId, before_offset: int) -> Steps[int]:
        row = yield from maybe_row(
            "SELECT log_start, next_offset, tabled_until, unstable_from FROM partition"
            " WHERE id = :partition FOR UPDATE",
            partition=partition,
        )
        if row is None:
            raise unknown_partition(partition)
        tail = Tail._make(row)
        if before_offset > tail.next_offset:
            raise above_the_end(before_offset, tail)
        if before_offset <= tail.log_start:
            return tail.log_start
        yield from _drop_below(partition, before_offset)
        return before_offset

    @transacts
    def apply_retention(
        self, partition: PartitionId, *, expired_before_ms: int | None, bytes_max: int | None, spans_max: int
    ) -> Steps[int]:
        row = yield from maybe_row(
            "SELECT bytes, tabled_until, EXISTS (SELECT 1 FROM lake_table WHERE topic_id = partition.topic_id)"
            " FROM partition WHERE id = :partition FOR UPDATE",
            partition=partition,
        )
        if row is None:
            return 0
        partition_bytes, tabled_until, has_table = row
        oldest = yield from all_rows(
            "SELECT * FROM (SELECT last_offset, bytes, max_timestamp_ms, committed_ms FROM file_span"
            " WHERE partition_id = :partition AND last_offset < :tabled_until"
            " ORDER BY last_offset LIMIT :spans_max) AS in_table UNION ALL"
            " SELECT * FROM (SELECT last_offset, length, max_timestamp_ms, committed_ms FROM span"
            " WHERE partition_id = :partition AND NOT :has_table ORDER BY last_offset LIMIT :spans_max) AS in_wal"
            " ORDER BY last_offset LIMIT :spans_max",
            partition=partition,
            spans_max=spans_max,
            tabled_until=tabled_until,
            has_table=has_table,
        )
        expired = expired_spans(
            map(OldSpan._make, oldest), partition_bytes, expired_before_ms=expired_before_ms, bytes_max=bytes_max
        )
        if expired:
            yield from _drop_below(partition, expired[-1].last_offset + 1)
        return len(expired)


def _drop_below(partition: PartitionId, log_start: int) -> Steps[None]:
    """Raise log_start and drop the spans wholly below it. Table files stay: they belong to the table."""
    dropped = yield from all_rows(
        "DELETE FROM span WHERE partition_id = :partition AND last_offset < :log_start RETURNING segment_id, length",
        partition=partition,
        log_start=log_start,
    )
    from_files = yield from all_rows(
        "DELETE FROM file_span WHERE partition_id = :partition AND last_offset < :log_start RETURNING bytes",
        partition=partition,
        log_start=log_start,
    )
    yield from changed(
        "UPDATE partition SET log_start = greatest(log_start, :log_start), bytes = bytes - :bytes"
        " WHERE id = :partition",
        log_start=log_start,
        bytes=sum(length for _, length in dropped) + sum(size for (size,) in from_files),
        partition=partition,
    )
    yield from release(Counter(segment for segment, _ in dropped))


def release_spans_of(partitions: list[PartitionId]) -> Steps[None]:
    """Release all spans of partitions that are being deleted."""
    counts = yield from all_rows(
        "SELECT segment_id, count(*) FROM span WHERE partition_id = ANY (:partitions) GROUP BY segment_id",
        partitions=partitions,
    )
    yield from changed("DELETE FROM span WHERE partition_id = ANY (:partitions)", partitions=partitions)
    yield from changed("DELETE FROM file_span WHERE partition_id = ANY (:partitions)", partitions=partitions)
    yield from release(dict(counts))


def release(span_counts: Mapping[SegmentId, int]) -> Steps[None]:
    """Subtract dropped spans from the counts of their segments. Inline bytes go with their last span."""
    if not span_counts:
        return
    segments = sorted(span_counts)
    yield from lock("SELECT 1 FROM segment WHERE id = ANY (:segments) ORDER BY id FOR UPDATE", segments=segments)
    yield from for_each({"segment": segments, "count": [span_counts[segment] for segment in segments]}, _RELEASE)
    if inline := [segment for segment in segments if is_inline(segment)]:
        yield from changed(
            "DELETE FROM inline_segment WHERE id IN"
            " (SELECT id FROM segment WHERE id = ANY (:inline) AND dead_since_ms IS NOT NULL)",
            inline=inline,
        )
