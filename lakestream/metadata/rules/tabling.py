"""Apply a compaction job to a partition: the whole arithmetic of its commit, without a database.

    tail and WAL spans, as read under lock  +  the job's range and file spans  ->  rows of file_span, the new tail

SQLite and PostgreSQL both run this between their reads and their writes.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from lakestream.model.job import NewFileSpan, TabledRange
from lakestream.model.place import SegmentId, Tail
from lakestream.model.table import TableId
from lakestream.model.table_errors import LedgerConflict
from lakestream.model.topic import PartitionId


class ReplacedSpan(NamedTuple):
    """A WAL span that the job replaces."""

    last_offset: int
    segment: SegmentId
    length: int
    max_timestamp_ms: int
    running_max_timestamp_ms: int
    committed_ms: int


class FileSpanRow(NamedTuple):
    """A row of the file_span table, its columns in their order there."""

    partition_id: PartitionId
    base_offset: int
    last_offset: int
    table_id: TableId
    file: str
    log_file: str | None
    rows: int
    bytes: int
    max_timestamp_ms: int
    running_max_timestamp_ms: int
    committed_ms: int
    encoding: str | None = None


def check_range(tail: Tail, tabled: TabledRange, spans: Sequence[NewFileSpan]) -> None:
    """Raises LedgerConflict unless the range continues the table's contents and its spans cover it."""
    start_max = max(tail.tabled_until, tail.log_start)
    if not tail.tabled_until <= tabled.start <= start_max or tabled.end > tail.last_stable:
        raise LedgerConflict(
            f"partition {tabled.partition}: offsets [{tabled.start}, {tabled.end}) do not continue what is in the "
            f"table, which has all below {start_max} of {tail.last_stable}: another job was faster; plan anew"
        )
    ends = [tabled.start - 1, *(span.last_offset for span in spans)]
    gapless = all(span.base_offset == before + 1 for span, before in zip(spans, ends, strict=False))
    if not spans or ends[-1] != tabled.end - 1 or not gapless:
        raise LedgerConflict(
            f"partition {tabled.partition}: the job's files do not cover [{tabled.start}, {tabled.end})"
        )


def file_span_rows(
    table: TableId, tail: Tail, spans: Sequence[NewFileSpan], replaced: Sequence[ReplacedSpan]
) -> list[FileSpanRow]:
    """The job's spans that still hold records at or above `log_start`, with facts that only the replaced spans know.

    `replaced` are all WAL spans below the range's end, in offset order. A job takes whole spans, so each file span ends
    where one of them does. The running maximum continues to rise along the partition, and no span is later than it: a
    batch that was damaged in storage may claim any time.
    """
    rows = []
    for span in spans:
        inside = [old for old in replaced if span.base_offset <= old.last_offset <= span.last_offset]
        if span.last_offset < tail.log_start:
            continue
        if not inside or inside[-1].last_offset != span.last_offset:
            raise LedgerConflict(
                f"partition {span.partition}: no span of the log ends at offset {span.last_offset}: plan anew"
            )
        rows.append(
            FileSpanRow(
                *span[:3],
                table,
                span.file,
                span.log_file,
                span.rows,
                sum(old.length for old in inside),
                min(span.max_timestamp_ms, max(old.max_timestamp_ms for old in inside)),
                inside[-1].running_max_timestamp_ms,
                inside[-1].committed_ms,
            )
        )
    return rows


def spans_by_partition(spans: Iterable[NewFileSpan]) -> dict[PartitionId, list[NewFileSpan]]:
    """The spans of each partition, in offset order. Raises LedgerConflict if two overlap."""
    found: dict[PartitionId, list[NewFileSpan]] = {}
    for span in sorted(spans, key=lambda span: span[:3]):
        found.setdefault(span.partition, []).append(span)
    for own in found.values():
        if any(after.base_offset <= before.last_offset for before, after in pairwise(own)):
            raise LedgerConflict(f"partition {own[0].partition}: the job's files overlap")
    return found
