"""Which of a partition's spans has the greatest time: the rule, without a database."""

from lakestream.model.place import FileSpan, Span


def later_of(in_table: FileSpan | None, in_wal: Span | None) -> Span | FileSpan | None:
    """Of two that have the same greatest time the one in the table, since it comes first."""
    if in_table is None or in_wal is None:
        return in_table or in_wal
    return in_wal if in_wal.max_timestamp_ms > in_table.max_timestamp_ms else in_table
