"""Reads of the log: tails, the spans behind an offset, and lookups by time. Each is one statement, so one moment."""

from collections.abc import Sequence

from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.store import PartitionSize, ViewAsk
from lakestream.model.place import PartitionView, Span, Tail
from lakestream.model.topic import PartitionId


async def views(connection: Connection, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
    rows = await all_rows(
        connection,
        "SELECT n, log_start, next_offset, span.base_offset, span.last_offset, span.segment_id, span.at, span.length,"
        " span.max_timestamp_ms, span.append_ms"
        " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY AS ask (partition, start, spans_max, n)"
        " JOIN partition ON partition.id = ask.partition"
        " LEFT JOIN LATERAL (SELECT * FROM span WHERE partition_id = partition.id AND last_offset >= ask.start"
        " ORDER BY last_offset LIMIT ask.spans_max) AS span ON true ORDER BY n, span.last_offset",
        ([ask.partition for ask in asks], [ask.offset for ask in asks], [ask.spans_max for ask in asks]),
    )
    tails: dict[int, Tail] = {}
    spans: dict[int, list[Span]] = {}
    for n, log_start, next_offset, *span in rows:
        tails[n] = Tail(log_start, next_offset)
        if span[0] is not None:
            spans.setdefault(n, []).append(Span._make(span))
    return [PartitionView(tails[n], tuple(spans.get(n, ()))) if n in tails else None for n in range(1, len(asks) + 1)]


async def tails(connection: Connection, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
    rows = await all_rows(
        connection, "SELECT id, log_start, next_offset, bytes FROM partition WHERE id = ANY (%s)", (list(partitions),)
    )
    return {id: PartitionSize(Tail(log_start, next_offset), bytes) for id, log_start, next_offset, bytes in rows}


async def span_at_time(connection: Connection, partition: PartitionId, timestamp_ms: int) -> Span | None:
    """The function bisects over the running maximum (migrations/postgres/0001_log_functions.sql)."""
    row = await maybe_row(
        connection,
        "SELECT base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms"
        " FROM span_at_time_v1(%s, %s)",
        (partition, timestamp_ms),
    )
    return None if row is None else Span._make(row)


async def span_of_max_timestamp(connection: Connection, partition: PartitionId) -> Span | None:
    """The greatest is mostly the last span's running maximum; where that stems from a dropped span, the spans tell."""
    async with connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        row = await maybe_row(
            connection,
            "SELECT running_max_timestamp_ms FROM span WHERE partition_id = %s ORDER BY last_offset DESC LIMIT 1",
            (partition,),
        )
        if row is None or row[0] < 0:
            return None
        if (span := await span_at_time(connection, partition, row[0])) is not None:
            return span
        return await _span_of_own_max(connection, partition)


async def _span_of_own_max(connection: Connection, partition: PartitionId) -> Span | None:
    row = await maybe_row(
        connection,
        "SELECT base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms FROM span"
        " WHERE partition_id = %s AND max_timestamp_ms >= 0 ORDER BY max_timestamp_ms DESC, last_offset LIMIT 1",
        (partition,),
    )
    return None if row is None else Span._make(row)
