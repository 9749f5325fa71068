"""Taking spans out of the log, and letting go of the segments they lay in.

A segment counts its spans. With the last of them it is dead for good, and its object goes after a grace.
The partition's row is locked first, so that commits to it wait; segments are locked by id.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.missing import above_the_end, unknown_partition
from lakestream.metadata.rules.retention import OldSpan, expired_spans
from lakestream.model.place import SegmentId, Tail
from lakestream.model.topic import PartitionId


async def delete_records(connection: Connection, partition: PartitionId, before_offset: int) -> int:
    async with connection.transaction():
        row = await maybe_row(
            connection,
            "SELECT log_start, next_offset, tabled_until FROM partition WHERE id = %s FOR UPDATE",
            (partition,),
        )
        if row is None:
            raise unknown_partition(partition)
        tail = Tail._make(row)
        if before_offset > tail.next_offset:
            raise above_the_end(before_offset, tail)
        if before_offset <= tail.log_start:
            return tail.log_start
        await _drop_below(connection, partition, before_offset)
        return before_offset


async def apply_retention(
    connection: Connection,
    partition: PartitionId,
    *,
    expired_before_ms: int | None,
    bytes_max: int | None,
    spans_max: int,
) -> int:
    async with connection.transaction():
        row = await maybe_row(
            connection,
            "SELECT bytes, EXISTS (SELECT 1 FROM lake_table WHERE topic_id = partition.topic_id) FROM partition"
            " WHERE id = %s FOR UPDATE",
            (partition,),
        )
        if row is None:
            return 0
        oldest = await all_rows(
            connection,
            "(SELECT last_offset, bytes, max_timestamp_ms, committed_ms FROM file_span"
            " WHERE partition_id = %s ORDER BY last_offset LIMIT %s) UNION ALL"
            " (SELECT last_offset, length, max_timestamp_ms, committed_ms FROM span"
            " WHERE partition_id = %s AND NOT %s ORDER BY last_offset LIMIT %s) ORDER BY last_offset LIMIT %s",
            (partition, spans_max, partition, row[1], spans_max, spans_max),
        )
        expired = expired_spans(
            map(OldSpan._make, oldest), row[0], expired_before_ms=expired_before_ms, bytes_max=bytes_max
        )
        if expired:
            await _drop_below(connection, partition, expired[-1].last_offset + 1)
        return len(expired)


async def release_spans_of(connection: Connection, partitions: Sequence[PartitionId]) -> None:
    """The whole partitions are going."""
    counts = await all_rows(
        connection,
        "WITH gone AS (DELETE FROM span WHERE partition_id = ANY (%s) RETURNING segment_id)"
        " SELECT segment_id, count(*) FROM gone GROUP BY segment_id",
        (list(partitions),),
    )
    await connection.execute("DELETE FROM file_span WHERE partition_id = ANY (%s)", (list(partitions),))
    await release(connection, dict(counts))


async def _drop_below(connection: Connection, partition: PartitionId, log_start: int) -> None:
    """Raise log_start and drop the spans wholly below it. Table files stay: they are the table's."""
    dropped = await all_rows(
        connection,
        "DELETE FROM span WHERE partition_id = %s AND last_offset < %s RETURNING segment_id, length",
        (partition, log_start),
    )
    from_files = await all_rows(
        connection,
        "DELETE FROM file_span WHERE partition_id = %s AND last_offset < %s RETURNING bytes",
        (partition, log_start),
    )
    await connection.execute(
        "UPDATE partition SET log_start = greatest(log_start, %s), bytes = bytes - %s WHERE id = %s",
        (log_start, sum(length for _, length in dropped) + sum(size for (size,) in from_files), partition),
    )
    await release(connection, Counter(segment for segment, _ in dropped))


async def release(connection: Connection, span_counts: Mapping[SegmentId, int]) -> None:
    """So many spans of each segment are gone."""
    segments, counts = list(span_counts), list(span_counts.values())
    await connection.execute("SELECT 1 FROM segment WHERE id = ANY (%s) ORDER BY id FOR UPDATE", (segments,))
    await connection.execute(
        "UPDATE segment SET span_count = span_count - released.count,"
        " dead_since_ms = CASE WHEN span_count = released.count THEN now_ms() ELSE dead_since_ms END"
        " FROM unnest(%s::text[], %s::bigint[]) AS released (id, count) WHERE segment.id = released.id",
        (segments, counts),
    )
