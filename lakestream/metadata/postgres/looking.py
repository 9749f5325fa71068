"""Reads of the log: tails, the spans behind an offset, and lookups by time. Each read sees one moment."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString

from lakestream.metadata.postgres.asking import all_rows, maybe_row
from lakestream.metadata.postgres.pool import Connection
from lakestream.metadata.rules.times import first_of, later_of
from lakestream.metadata.store import PartitionSize, ViewAsk
from lakestream.model.place import FileSpan, PartitionView, Span, Tail
from lakestream.model.topic import PartitionId
from lakestream.model.transaction import AbortedRange

_SPAN: LiteralString = "base_offset, last_offset, segment_id, at, length, max_timestamp_ms, append_ms"
_FILE_SPAN: LiteralString = (
    "base_offset, last_offset, file, log_file,"
    " (SELECT number FROM partition WHERE id = partition_id), rows, bytes, max_timestamp_ms,"
    " encoding"
)


async def views(connection: Connection, asks: Sequence[ViewAsk]) -> list[PartitionView | None]:
    """Spans of both kinds share columns: a file span has its file in the column where a WAL span has its segment."""
    rows = await all_rows(
        connection,
        "SELECT n, log_start, next_offset, tabled_until, unstable_from, CASE WHEN"
        " last_aborted >= greatest(ask.start, tabled_until) THEN"
        " ARRAY(SELECT ARRAY[producer_id, first_offset, last_offset] FROM ended_transaction"
        " WHERE partition_id = partition.id AND committed = 0"
        " AND last_offset >= greatest(ask.start, tabled_until) ORDER BY last_offset) END, number, found.*"
        " FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[]) WITH ORDINALITY AS ask (partition, start, spans_max, n)"
        " JOIN partition ON partition.id = ask.partition LEFT JOIN LATERAL ("
        "(SELECT false AS is_file, base_offset, last_offset, segment_id AS place, NULL AS log_file, at,"
        " length, max_timestamp_ms, append_ms, NULL::text AS encoding FROM span"
        " WHERE partition_id = partition.id AND last_offset >= ask.start ORDER BY last_offset LIMIT ask.spans_max)"
        " UNION ALL (SELECT true, base_offset, last_offset, file, log_file, rows,"
        " bytes, max_timestamp_ms, -1, encoding FROM file_span"
        " WHERE ask.start < greatest(partition.tabled_until, partition.appended_until)"
        " AND partition_id = partition.id AND last_offset >= ask.start"
        " ORDER BY last_offset LIMIT ask.spans_max)"
        " ORDER BY last_offset LIMIT ask.spans_max) AS found ON true ORDER BY n, found.last_offset",
        ([ask.partition for ask in asks], [ask.offset for ask in asks], [ask.spans_max for ask in asks]),
    )
    tails: dict[int, Tail] = {}
    spans: dict[int, list[Span | FileSpan]] = {}
    aborted: dict[int, list[AbortedRange]] = {}
    for n, log_start, next_offset, tabled_until, unstable_from, ranges, number, *span in rows:
        if n not in tails:
            tails[n] = Tail(log_start, next_offset, tabled_until, unstable_from)
            aborted[n] = [AbortedRange._make(each) for each in ranges or ()]
        if span[0] is not None:
            spans.setdefault(n, []).append(_span_of_either_kind(number, *span))
    return [_view(tails[n], spans.get(n, ()), aborted[n]) if n in tails else None for n in range(1, len(asks) + 1)]


def _view(tail: Tail, spans: Sequence[Span | FileSpan], aborted: Sequence[AbortedRange]) -> PartitionView:
    """Aborted transactions that begin beyond the spans are left out."""
    if not aborted or not spans:
        return PartitionView(tail, tuple(spans))
    last_offset = spans[-1].last_offset
    return PartitionView(tail, tuple(spans), tuple(each for each in aborted if each.first_offset <= last_offset))


def _span_of_either_kind(
    number: int,
    is_file: bool,
    base_offset: int,
    last_offset: int,
    place: str,
    log_file: str | None,
    at_or_rows: int,
    length: int,
    max_timestamp_ms: int,
    append_ms: int,
    encoding: str | None,
) -> Span | FileSpan:
    if is_file:
        return FileSpan(
            base_offset, last_offset, place, log_file, number, at_or_rows, length, max_timestamp_ms, encoding
        )
    return Span(base_offset, last_offset, place, at_or_rows, length, max_timestamp_ms, append_ms)


async def tails(connection: Connection, partitions: Sequence[PartitionId]) -> dict[PartitionId, PartitionSize]:
    rows = await all_rows(
        connection,
        "SELECT id, bytes, log_start, next_offset, tabled_until, unstable_from FROM partition WHERE id = ANY (%s)",
        (list(partitions),),
    )
    return {id: PartitionSize(Tail._make(tail), bytes) for id, bytes, *tail in rows}


async def span_at_time(connection: Connection, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
    """Table spans lie before WAL spans, so the table is asked first. Only appended files may lie among the latter."""
    async with _one_moment(connection):
        return await _span_at_time(connection, partition, timestamp_ms)


async def span_of_max_timestamp(connection: Connection, partition: PartitionId) -> Span | FileSpan | None:
    """Usually the last span's running maximum. If a dropped span raised it, search the other spans."""
    async with _one_moment(connection):
        row = await maybe_row(
            connection,
            "(SELECT running_max_timestamp_ms, last_offset FROM span WHERE partition_id = %s"
            " ORDER BY last_offset DESC LIMIT 1) UNION ALL"
            " (SELECT running_max_timestamp_ms, last_offset FROM file_span WHERE partition_id = %s"
            " ORDER BY last_offset DESC LIMIT 1) ORDER BY last_offset DESC LIMIT 1",
            (partition, partition),
        )
        if row is None or row[0] < 0:
            return None
        if (span := await _span_at_time(connection, partition, row[0])) is not None:
            return span
        return await _span_of_own_max(connection, partition)


@asynccontextmanager
async def _one_moment(connection: Connection) -> AsyncIterator[None]:
    async with connection.transaction():
        await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


async def _span_at_time(connection: Connection, partition: PartitionId, timestamp_ms: int) -> Span | FileSpan | None:
    """In the table an index finds where the running maximum reaches the time. In the WAL a function bisects
    (migrations/postgres/0001_log_functions.sql)."""
    in_table = await maybe_row(
        connection,
        f"SELECT {_FILE_SPAN} FROM file_span WHERE partition_id = %s AND max_timestamp_ms >= %s"
        " AND last_offset >= (SELECT last_offset FROM file_span WHERE partition_id = %s"
        " AND running_max_timestamp_ms >= %s ORDER BY running_max_timestamp_ms, last_offset LIMIT 1)"
        " ORDER BY last_offset LIMIT 1",
        (partition, timestamp_ms, partition, timestamp_ms),
    )
    found = None if in_table is None else FileSpan._make(in_table)
    if found is not None and found.encoding is None:
        return found
    in_wal = await maybe_row(connection, f"SELECT {_SPAN} FROM span_at_time_v1(%s, %s)", (partition, timestamp_ms))
    return first_of(found, None if in_wal is None else Span._make(in_wal))


async def _span_of_own_max(connection: Connection, partition: PartitionId) -> Span | FileSpan | None:
    """The first span, in table or WAL, whose own greatest time is the greatest of all."""
    in_table = await maybe_row(
        connection,
        f"SELECT {_FILE_SPAN} FROM file_span WHERE partition_id = %s AND max_timestamp_ms >= 0"
        " ORDER BY max_timestamp_ms DESC, last_offset LIMIT 1",
        (partition,),
    )
    in_wal = await maybe_row(
        connection,
        f"SELECT {_SPAN} FROM span"
        " WHERE partition_id = %s AND max_timestamp_ms >= 0 ORDER BY max_timestamp_ms DESC, last_offset LIMIT 1",
        (partition,),
    )
    return later_of(FileSpan._make(in_table) if in_table else None, Span._make(in_wal) if in_wal else None)
