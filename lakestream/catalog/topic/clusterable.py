"""Which files of `main` wait to be clustered, and which files of a clustering take their place.

    on `log` as well, unpartitioned and unsorted    -> waits, if none of its rows is deleted
    of the present layout, written by a clustering  -> small ones of one partition may be clustered together
    any other                                       -> left alone: someone has laid it out, or repaired its rows

Only `main` changes, or the branch on which it is rebuilt. `log` keeps its files. Repaired rows stay in files of their
own, since `main` alone has them: a rebuild takes those files over.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from lakestream.catalog.commits.deleted_rows import DeletedRows
from lakestream.catalog.commits.replacements import Replacement
from lakestream.catalog.commits.table_state import TableState, has_lineage, head_of
from lakestream.catalog.files.commit_names import CLUSTERED_FILE_END
from lakestream.catalog.files.locations import plain_location
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.catalog.manifests.entries import EntryFormat, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content
from lakestream.catalog.topic.table_layout import UNSORTED, TableLayout, is_partitioned, layout_of
from lakestream.model.table import LOG_BRANCH
from lakestream.model.table_errors import LedgerConflict


class MainFile(NamedTuple):
    """A data file of `main`."""

    path: str
    bytes: int
    spec_id: int
    order_id: int
    partition: str
    """Its partition values, in a form that is only good for comparing."""
    waits: bool
    """Whether `log` has it as well, and it is laid out in no way."""
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


def data_manifests(state: TableState, branch: str) -> list[ManifestFile]:
    head = head_of(state.metadata, branch)
    return [row for row in state.lists[head] if row["content"] == Content.DATA] if head is not None else []


def paths_on(state: TableState, branch: str) -> set[str]:
    """The data files of a branch, in their plain spelling."""
    rows = [row["manifest_path"] for row in data_manifests(state, branch)]
    living = (entry for path in rows for entry in state.entries[path] if entry.status is not Status.DELETED)
    return {plain_location(entry.path) for entry in living}


def clusterable(state: TableState, branch: str, deleted: Sequence[DeletedRows]) -> Clusterable:
    """`state` holds the entries of all data manifests of the branch and of `log`; `deleted` is about the branch."""
    metadata = state.metadata
    log = paths_on(state, LOG_BRANCH)
    files: list[MainFile] = []
    for row in data_manifests(state, branch):
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
                    waits=plain and order_id == UNSORTED and plain_location(entry.path) in log,
                    has_deletes=any(each.may_touch(entry.path) for each in deleted),
                )
            )
    layout = layout_of(metadata)
    types = EntryFormat(metadata, layout.spec_id).types
    return Clusterable(layout=layout, has_lineage=has_lineage(metadata), types=types, files=tuple(files))
