"""Plans the removal of whole data files from branches in one commit. Reads and writes nothing.

    what was read (metadata, manifest lists of the heads, all their data manifests)  +  paths that go, by branch
      ->  manifests without them, manifest lists, a `delete` snapshot for each branch that had any

A manifest that holds a removed file is written again: the others stay as existing entries, and the removed ones are
marked as deleted by this snapshot, as the specification requires. Delete files that refer to removed files stay, and
match nothing any more. Branches at the same snapshot that lose the same files share the new one.
"""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from lakestream.catalog.commits.rolling import living
from lakestream.catalog.commits.snapshots import NewIds, Planning
from lakestream.catalog.commits.summaries import delete_summary
from lakestream.catalog.commits.table_state import CommitPlan, TableState, head_of
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content, manifest_row


def remove_files(
    state: TableState,
    gone: Mapping[str, AbstractSet[str]],
    *,
    summary: Mapping[str, str],
    now_ms: int,
    ids: NewIds,
    names: CommitNames,
) -> CommitPlan | None:
    """Remove these files from the branches that have them, by branch. None if no branch has any of its own. `state`
    holds the entries of every data manifest of the branches' heads."""
    planning = Planning(state=state, summary=summary, now_ms=now_ms, ids=ids, names=names)
    heads: dict[str, int] = {}
    for (parent_id, going), refs in _groups(state, gone).items():
        if (snapshot_id := _without(planning, parent_id, going)) is not None:
            heads |= dict.fromkeys(refs, snapshot_id)
    return planning.plan(heads) if heads else None


def _groups(state: TableState, gone: Mapping[str, AbstractSet[str]]) -> dict[tuple[int, frozenset[str]], list[str]]:
    """Branches that share the new snapshot."""
    found: dict[tuple[int, frozenset[str]], list[str]] = {}
    for ref, going in gone.items():
        if (head := head_of(state.metadata, ref)) is not None:
            found.setdefault((head, frozenset(going)), []).append(ref)
    return found


def _without(planning: Planning, parent_id: int, gone: AbstractSet[str]) -> int | None:
    """A snapshot like the parent without the removed files; None if the parent has none of them."""
    if not any(_loses(planning.state, row, gone) for row in planning.state.lists[parent_id]):
        return None
    snapshot_id, first_row_id = planning.begin(), planning.next_row_id
    left = manifests_without(planning, parent_id, gone, snapshot_id)
    told = delete_summary(
        files=left.files,
        records=left.records,
        bytes=left.bytes,
        parent=planning.summary_of(parent_id),
        extra=planning.summary,
    )
    planning.end(snapshot_id, parent_id, left.manifests, told, first_row_id)
    return snapshot_id


class ManifestsLeft(NamedTuple):
    """A snapshot's manifests after a removal, and what was removed."""

    manifests: list[ManifestFile]
    files: int
    records: int
    bytes: int


def manifests_without(planning: Planning, parent_id: int, gone: AbstractSet[str], snapshot_id: int) -> ManifestsLeft:
    """The parent's manifests without the removed files, for the snapshot that removes them."""
    state = planning.state
    rows = living(state.lists[parent_id])
    losing = [row["manifest_path"] for row in rows if _loses(state, row, gone)]
    manifests: list[ManifestFile] = []
    files = records = size = 0
    for row in rows:
        if row["manifest_path"] not in losing:
            manifests.append(planning.with_row_ids(row))
            continue
        format = EntryFormat(state.metadata, row["partition_spec_id"])
        # Assign row ids first, so that remaining rows keep the ids that they have, or would have had.
        row = planning.with_row_ids(row)
        entries = _marked(settled_entries(state.entries[row["manifest_path"]], row), gone, snapshot_id)
        deleted = [entry for entry in entries if entry.status is Status.DELETED]
        files, records = files + len(deleted), records + sum(entry.rows for entry in deleted)
        size += sum(map(format.file_bytes, deleted))
        manifests.append(_written(planning, format, entries, row, snapshot_id))
    return ManifestsLeft(manifests, files, records, size)


def _loses(state: TableState, row: ManifestFile, gone: AbstractSet[str]) -> bool:
    return row["content"] == Content.DATA and any(
        entry.path in gone and entry.status is not Status.DELETED for entry in state.entries[row["manifest_path"]]
    )


def _marked(entries: Collection[ManifestEntry], gone: AbstractSet[str], snapshot_id: int) -> list[ManifestEntry]:
    return [entry.deleted(snapshot_id) if entry.path in gone else entry for entry in entries]


def _written(
    planning: Planning, format: EntryFormat, entries: Sequence[ManifestEntry], before: ManifestFile, snapshot_id: int
) -> ManifestFile:
    location, length = planning.write_manifest(format, entries)
    row = manifest_row(
        format,
        entries,
        [{} for _ in entries],
        location=location,
        length=length,
        snapshot_id=snapshot_id,
        sequence_number=planning.sequence,
        # Every entry has its own row id by now. The manifest's id only says that it needs no new ones.
        first_row_id=before["first_row_id"],
    )
    return {**row, "partitions": before["partitions"]}
