"""What a removal by retention means for the table: which files no branch needs any more, and the summary that says it.

    files that leave, by branch  ->  those that no branch has afterwards: older snapshots alone keep them
                                 ->  those that another branch keeps

Only snapshots from before a removal of the first kind stand in the way of deleting files (catalog/topic/expiry.py).
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lakestream.catalog.commits.branch_files import entries_of
from lakestream.catalog.commits.summaries import MOVED_ON, RETENTION, RETENTION_BYTES
from lakestream.catalog.commits.table_state import TableState
from lakestream.catalog.files.locations import plain_location


class LetGo(NamedTuple):
    """Files that leave the last branch that has them."""

    files: int
    bytes: int


def let_go(state: TableState, gone: Mapping[str, AbstractSet[str]]) -> LetGo:
    """`gone` has the files that leave by branch, and names every branch that keeps files. A file may be spelled
    differently on two branches."""
    leaving: dict[str, int] = {}
    staying: set[str] = set()
    for ref, going in gone.items():
        for format, entry in entries_of(state, ref):
            if entry.path in going:
                leaving[plain_location(entry.path)] = format.file_bytes(entry)
            else:
                staying.add(plain_location(entry.path))
    sizes = [size for path, size in leaving.items() if path not in staying]
    return LetGo(len(sizes), sum(sizes))


def removal_summary(found: LetGo, gone: Mapping[str, AbstractSet[str]]) -> dict[str, str]:
    if found.files:
        return {RETENTION: str(found.files), RETENTION_BYTES: str(found.bytes)}
    return {MOVED_ON: str(max(map(len, gone.values()), default=0))}
