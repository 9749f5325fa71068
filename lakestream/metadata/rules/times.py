"""The rule that picks the span with a partition's greatest time, without a database."""

from lakestream.model.place import FileSpan, Span


def later_of(in_table: FileSpan | None, in_wal: Span | None) -> Span | FileSpan | None:
    """The later of the two. If both have the same time, the one in the table, since it comes first."""
    if in_table is None or in_wal is None:
        return in_table or in_wal
    return in_wal if in_wal.max_timestamp_ms > in_table.max_timestamp_ms else in_table


def first_of(in_table: FileSpan | None, in_wal: Span | None) -> Span | FileSpan | None:
    """The span with the lower offsets."""
    if in_table is None or in_wal is None:
        return in_table or in_wal
    return in_table if in_table.base_offset < in_wal.base_offset else in_wal
