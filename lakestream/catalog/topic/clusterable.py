"""Which files of `main` wait to be clustered, and which files of a clustering take their place.

    unpartitioned and unsorted, without deleted rows  -> waits: the log's files, inserted and repaired rows
    with deleted rows                                 -> left alone until the deletes are folded in
    of the present layout, written by a clustering    -> small ones of one partition may be clustered together
    any other                                         -> someone has laid it out: left alone

Only `main` changes. A file that `log` has as well stays there.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.catalog.commits.deleted_rows import DeletedRows
from lakestream.catalog.commits.replacements import Replacement
from lakestream.catalog.commits.table_state import TableState, has_lineage, head_of
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.manifests.entries import EntryFormat, settled_entries
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.topic.table_layout import UNSORTED, TableLayout, is_partitioned, layout_of
from lakestream.model.table_errors import LedgerConflict

CLUSTERED_FILE_END = "-clustered.parquet"
"""The ending of files that a clustering has written."""


class MainFile(NamedTuple):
    """A data file of `main`."""

    path: str
    bytes: int
    spec_id: int
    order_id: int
    partition: str
    """Its partition values, in a form that is only good for comparing."""
    waits: bool
    """Whether it is laid out in no way."""
    has_deletes: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusterable:
    """The files of `main` as one version of the table has them."""

    layout: TableLayout
    has_lineage: bool
    types: tuple[str, ...]
    """The types of the layout's partition values."""
    files: tuple[MainFile, ...]

    @property
    def waiting(self) -> list[MainFile]:
        """The files to cluster."""
        return [file for file in self.files if file.waits and not file.has_deletes]

    @property
    def clustered(self) -> list[MainFile]:
        """The files of earlier clusterings under the present layout."""
        own = (self.layout.spec_id, self.layout.order_id)
        return [
            file
            for file in self.files
            if (file.spec_id, file.order_id) == own and is_clustered(file.path) and not file.has_deletes
        ]

    def replacement(self, gone: AbstractSet[str], files: Sequence[DataFile]) -> Replacement:
        """Raises LedgerConflict if someone has changed the files meanwhile."""
        untouched = {file.path for file in self.files if not file.has_deletes}
        if gone - untouched:
            raise LedgerConflict("someone else has changed the files to cluster: plan anew")
        return Replacement(frozenset(gone), tuple(files))


def is_clustered(path: str) -> bool:
    """Whether a clustering of ours wrote the file."""
    return path.endswith(CLUSTERED_FILE_END)


def clusterable(state: TableState, branch: str, deleted: Sequence[DeletedRows]) -> Clusterable:
    """`state` holds the entries of all data manifests of the branch, and `deleted` is about it."""
    metadata = state.metadata
    head = head_of(metadata, branch)
    rows = [row for row in state.lists.get(head, ()) if row["content"] == Content.DATA] if head is not None else []
    files: list[MainFile] = []
    for row in rows:
        format = EntryFormat(metadata, row["partition_spec_id"])
        plain = not is_partitioned(format.spec)
        for entry in settled_entries(state.entries[row["manifest_path"]], row):
            described = format.described(entry)
            order_id = described["sort_order_id"] or UNSORTED
            files.append(
                MainFile(
                    path=entry.path,
                    bytes=described["file_size_in_bytes"],
                    spec_id=row["partition_spec_id"],
                    order_id=order_id,
                    partition=repr(described["partition"]),
                    waits=plain and order_id == UNSORTED,
                    has_deletes=any(each.may_touch(entry.path) for each in deleted),
                )
            )
    layout = layout_of(metadata)
    types = EntryFormat(metadata, layout.spec_id).types
    return Clusterable(layout=layout, has_lineage=has_lineage(metadata), types=types, files=tuple(files))
