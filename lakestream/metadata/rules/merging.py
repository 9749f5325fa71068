"""Apply a merge of files to a partition: which file spans go, and which rows take their place. No database here.

    tail and file spans, as read under lock  +  the merge's spans  ->  rows of file_span that go, and that come

The offsets stay the same: a merge changes where records lie, not which. SQLite and PostgreSQL both run this between
their reads and their writes.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from lakestream.metadata.rules.tabling import FileSpanRow
from lakestream.model.job import NewFileSpan
from lakestream.model.place import Tail
from lakestream.model.table import TableId
from lakestream.model.table_errors import LedgerConflict


class MergedRows(NamedTuple):
    gone: list[FileSpanRow]
    new: list[FileSpanRow]


def merged_rows(
    table: TableId, tail: Tail, spans: Sequence[NewFileSpan], there: Sequence[FileSpanRow], files: AbstractSet[str]
) -> MergedRows:
    """Replace the spans of `files` by `spans`, all of one partition. `there` are the partition's file spans that end
    within the new ones, in offset order.

    The log may have let go of the first records meanwhile. Raises LedgerConflict if anything else has changed."""
    found = MergedRows([], [])
    for span in spans:
        inside = [old for old in there if span.base_offset <= old.last_offset <= span.last_offset]
        if not inside and span.last_offset < tail.log_start:
            continue
        if not inside or not _fits(span, inside, tail, table, files):
            raise LedgerConflict(
                f"partition {span.partition}: offsets [{span.base_offset}, {span.last_offset}] no longer lie in the "
                "files that were merged: plan anew"
            )
        found.gone.extend(inside)
        found.new.append(
            FileSpanRow(
                span.partition,
                inside[0].base_offset,
                span.last_offset,
                table,
                span.file,
                span.log_file,
                sum(old.rows for old in inside),
                sum(old.bytes for old in inside),
                max(old.max_timestamp_ms for old in inside),
                inside[-1].running_max_timestamp_ms,
                inside[-1].committed_ms,
            )
        )
    return found


def _fits(
    span: NewFileSpan, inside: Sequence[FileSpanRow], tail: Tail, table: TableId, files: AbstractSet[str]
) -> bool:
    """Whether these are the spans that the merge has read, but for some that the log has let go of."""
    begins = inside[0].base_offset == span.base_offset or span.base_offset < inside[0].base_offset <= tail.log_start
    gapless = all(before.last_offset + 1 == after.base_offset for before, after in pairwise(inside))
    known = all(
        old.table_id == table and old.file in files and (old.log_file is None or old.log_file in files)
        for old in inside
    )
    return begins and gapless and known and inside[-1].last_offset == span.last_offset
