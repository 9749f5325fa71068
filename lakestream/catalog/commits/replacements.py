"""Plans the replacement of data files by others with the same rows, on several branches in one commit. Pure.

    what was read (metadata, manifest lists of the heads, all their data manifests)  +  files that go and that come
      ->  manifests without the old files, one with the new ones, a `replace` snapshot for each branch

Readers that follow a table by its appends skip such a snapshot: it adds no rows. Branches at the same snapshot that
replace the same files share the new one.
"""

from collections.abc import Mapping
from typing import NamedTuple

from lakestream.catalog.commits.removals import manifests_without
from lakestream.catalog.commits.snapshots import NewIds, Planning
from lakestream.catalog.commits.summaries import replace_summary
from lakestream.catalog.commits.table_state import CommitPlan, TableState, head_of
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.manifests.data_files import DataFile
from lakestream.model.table_errors import CommitConflict


class Replacement(NamedTuple):
    """The files of one branch that go, by their paths in its manifests, and that come."""

    gone: frozenset[str]
    files: tuple[DataFile, ...]


def replace_files(
    state: TableState,
    replacements: Mapping[str, Replacement],
    *,
    summary: Mapping[str, str],
    now_ms: int,
    ids: NewIds,
    names: CommitNames,
) -> CommitPlan:
    """Replacements by branch. `state` holds the entries of every data manifest of the branches' heads. The branch named
    first assigns row ids. Raises CommitConflict if a branch lacks one of the files."""
    planning = Planning(state=state, summary=summary, now_ms=now_ms, ids=ids, names=names)
    heads: dict[str, int] = {}
    for parent_id, refs, replacement in _groups(state, replacements):
        heads |= dict.fromkeys(refs, _replaced(planning, parent_id, replacement))
    return planning.plan(heads)


def _groups(state: TableState, replacements: Mapping[str, Replacement]) -> list[tuple[int, list[str], Replacement]]:
    """Groups of branches that share a snapshot, in the order given."""
    groups: dict[tuple[object, ...], tuple[int, list[str], Replacement]] = {}
    for ref, each in replacements.items():
        head = head_of(state.metadata, ref)
        if head is None:
            raise CommitConflict(f"the table has no branch {ref} any more: read it again")
        key = (head, each.gone, *(file["file-path"] for file in each.files))
        groups.setdefault(key, (head, [], each))[1].append(ref)
    return list(groups.values())


def _replaced(planning: Planning, parent_id: int, replacement: Replacement) -> int:
    snapshot_id, first_row_id = planning.begin(), planning.next_row_id
    new = planning.new_manifests(replacement.files, snapshot_id)
    left = manifests_without(planning, parent_id, replacement.gone, snapshot_id)
    if left.files != len(replacement.gone):
        raise CommitConflict("some of the files to replace are not in the table any more: read it again")
    told = replace_summary(
        replacement.files,
        files_gone=left.files,
        records_gone=left.records,
        bytes_gone=left.bytes,
        parent=planning.summary_of(parent_id),
        extra=planning.summary,
    )
    planning.end(snapshot_id, parent_id, [*new, *left.manifests], told, first_row_id)
    return snapshot_id
