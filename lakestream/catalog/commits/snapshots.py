"""Plans appending data files to one or several branches in one commit. Reads and writes nothing.

    what was read (metadata, manifest lists of the heads, manifests to roll)  +  files by branch
      ->  objects to write (manifests, manifest lists)  +  updates for apply.py

Branches at the same snapshot that take the same files share one new snapshot. Otherwise each gets a snapshot and a
manifest of its own, because incremental readers (Spark's stream source) look only at manifests that the snapshot itself
added. With row lineage (version 3) a file that goes to several branches has the same row ids in all of them: the first
branch assigns them, the others name them explicitly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from lakestream.catalog.commits.log_spec import log_spec_id
from lakestream.catalog.commits.rolling import live_rows, living, manifests_to_roll, rolled_row
from lakestream.catalog.commits.summaries import append_summary, totals_after
from lakestream.catalog.commits.table_state import CommitPlan, NewObject, TableState, has_lineage, head_of
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.manifests.data_files import DataFile, manifest_data_file
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content, encode_manifest, encode_manifest_list, manifest_row
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table import OWN_BRANCHES
from lakestream.model.table_errors import InvalidTableChange

KEPT_FOR_EVER_MS = 2**63 - 1
"""`log` has the greatest possible age. Otherwise a table-wide limit on the age of refs would remove it."""


class NewIds(Protocol):
    def snapshot_id(self) -> int: ...


def append_files(
    state: TableState,
    files: Mapping[str, Sequence[DataFile]],
    *,
    summary: Mapping[str, str],
    now_ms: int,
    ids: NewIds,
    names: CommitNames,
) -> CommitPlan:
    """`files` are the new files of each branch, by its name. The first branch assigns row ids."""
    if state.metadata["format-version"] < 2:
        raise InvalidTableChange("files are appended to tables of format version 2 or 3: upgrade the table first")
    planning = Planning(state=state, summary=summary, now_ms=now_ms, ids=ids, names=names)
    heads: dict[str, int] = {}
    for refs, shared in _groups(state.metadata, files):
        snapshot_id = planning.add_snapshot(head_of(state.metadata, refs[0]), shared)
        heads |= dict.fromkeys(refs, snapshot_id)
    return planning.plan(heads)


def _groups(metadata: Metadata, files: Mapping[str, Sequence[DataFile]]) -> list[tuple[list[str], Sequence[DataFile]]]:
    """Groups of branches that can share a snapshot, in the order given."""
    groups: dict[tuple[object, ...], tuple[list[str], Sequence[DataFile]]] = {}
    for ref, own in files.items():
        key = (head_of(metadata, ref), *(file["file-path"] for file in own))
        groups.setdefault(key, ([], own))[0].append(ref)
    return list(groups.values())


def append_manifests(
    state: TableState, ref: str, manifests: Sequence[ManifestFile], *, now_ms: int, ids: NewIds, names: CommitNames
) -> CommitPlan:
    """Add manifests that another branch has to a branch, as they are."""
    planning = Planning(state=state, summary={}, now_ms=now_ms, ids=ids, names=names)
    head = planning.add_manifests(head_of(state.metadata, ref), manifests)
    return planning.plan({ref: head})


def ref_update(metadata: Metadata, ref: str, snapshot_id: int) -> Json:
    known = (metadata.get("refs") or {}).get(ref) or {"type": "branch"}
    lasting = {"max-ref-age-ms": KEPT_FOR_EVER_MS} if ref in OWN_BRANCHES else {}
    return {**known, **lasting, "action": "set-snapshot-ref", "ref-name": ref, "snapshot-id": snapshot_id}


@dataclass(slots=True, kw_only=True)
class Planning:
    """One commit while its snapshots are planned one after the other."""

    state: TableState
    summary: Mapping[str, str]
    now_ms: int
    ids: NewIds
    names: CommitNames
    updates: list[Json] = field(default_factory=list)
    objects: list[NewObject] = field(default_factory=list)
    row_ids: dict[str, int] = field(default_factory=dict)
    """The first row id of each file that got one in this commit."""
    rolled: dict[tuple[str, ...], ManifestFile] = field(default_factory=dict)
    """By the paths of their groups: branches that share manifests share the rolled one."""
    manifest_row_ids: dict[str, int] = field(init=False)
    """The first row id of each manifest that has one. Branches that share manifests share the ids, even if the rows got
    them after the branches had parted."""
    next_row_id: int = field(init=False)
    sequence: int = field(init=False)

    def __post_init__(self) -> None:
        rows = (row for own in self.state.lists.values() for row in own)
        self.manifest_row_ids = {
            row["manifest_path"]: row["first_row_id"] for row in rows if row["first_row_id"] is not None
        }
        self.next_row_id = self.state.metadata.get("next-row-id") or 0
        self.sequence = self.state.metadata["last-sequence-number"]

    @property
    def lineage(self) -> bool:
        return has_lineage(self.state.metadata)

    def add_snapshot(self, parent_id: int | None, files: Sequence[DataFile]) -> int:
        snapshot_id, first_row_id = self.begin(), self.next_row_id
        new = self.new_manifests(files, snapshot_id)
        manifests = [*new, *map(self.with_row_ids, self._kept_manifests(parent_id, snapshot_id))]
        summary = append_summary(files, self.summary_of(parent_id), self.summary)
        self.end(snapshot_id, parent_id, manifests, summary, first_row_id)
        return snapshot_id

    def add_manifests(self, parent_id: int | None, manifests: Sequence[ManifestFile]) -> int:
        snapshot_id, first_row_id = self.begin(), self.next_row_id
        kept = self._kept_manifests(parent_id, snapshot_id)
        whole = [self.with_row_ids(row) for row in (*manifests, *kept)]
        added = {
            "added-data-files": sum(row["added_files_count"] for row in manifests),
            "added-records": sum(row["added_rows_count"] for row in manifests),
        }
        summary = {
            "operation": "append",
            **{name: str(count) for name, count in added.items()},
            **totals_after(self.summary_of(parent_id), added),
        }
        self.end(snapshot_id, parent_id, whole, summary, first_row_id)
        return snapshot_id

    def begin(self) -> int:
        """Returns the id of the next snapshot. Manifests written from here on belong to it."""
        self.sequence += 1
        return self.ids.snapshot_id()

    def summary_of(self, snapshot_id: int | None) -> Mapping[str, str] | None:
        found = by_id(self.state.metadata["snapshots"], "snapshot-id", snapshot_id) if snapshot_id is not None else None
        return found and found.get("summary")

    def end(
        self,
        snapshot_id: int,
        parent_id: int | None,
        manifests: Sequence[ManifestFile],
        summary: Mapping[str, str],
        first_row_id: int,
    ) -> None:
        """The snapshot consists of these manifests. `first_row_id` is the table's next row id when it began."""
        metadata = self.state.metadata
        snapshot: Json = {
            "snapshot-id": snapshot_id,
            **({} if parent_id is None else {"parent-snapshot-id": parent_id}),
            "sequence-number": self.sequence,
            "timestamp-ms": max(self.now_ms, metadata["last-updated-ms"]),
            "manifest-list": self.names.manifest_list(snapshot_id),
            "summary": dict(summary),
            "schema-id": metadata["current-schema-id"],
            **({"first-row-id": first_row_id, "added-rows": self.next_row_id - first_row_id} if self.lineage else {}),
        }
        content = encode_manifest_list(metadata, manifests, snapshot=snapshot, parent_id=parent_id)
        self.objects.append(NewObject(location=snapshot["manifest-list"], content=content, manifests=tuple(manifests)))
        self.updates.append({"action": "add-snapshot", "snapshot": snapshot})

    def plan(self, heads: Mapping[str, int]) -> CommitPlan:
        """The whole commit, with each branch moved to its new head."""
        metadata = self.state.metadata
        return CommitPlan(
            updates=(*self.updates, *(ref_update(metadata, ref, id) for ref, id in heads.items())),
            objects=tuple(self.objects),
            heads=heads,
        )

    def new_manifests(self, files: Sequence[DataFile], snapshot_id: int) -> list[ManifestFile]:
        """One manifest for each partition spec among the files; usually there is one."""
        own_spec = log_spec_id(self.state.metadata) or 0
        by_spec: dict[int, list[DataFile]] = {}
        for file in files:
            by_spec.setdefault(file.get("spec-id", own_spec), []).append(file)
        return [self._new_manifest(spec_id, own, snapshot_id) for spec_id, own in by_spec.items()]

    def _new_manifest(self, spec_id: int, files: Sequence[DataFile], snapshot_id: int) -> ManifestFile:
        format = EntryFormat(self.state.metadata, spec_id)
        known_ids = [self.row_ids.get(file["file-path"]) for file in files]
        first_row_id = self._take_row_ids(files) if self.lineage else None
        described = [manifest_data_file(file, format.spec) for file in files]
        entries = [
            ManifestEntry(
                status=Status.ADDED,
                snapshot_id=snapshot_id,
                sequence_number=None,
                file_sequence_number=None,
                first_row_id=known_id,
                path=file["file_path"],
                rows=file["record_count"],
                data_file=format.encode_data_file(file),
            )
            for file, known_id in zip(described, known_ids, strict=True)
        ]
        location, length = self.write_manifest(format, entries)
        return manifest_row(
            format,
            entries,
            [file["partition"] for file in described],
            location=location,
            length=length,
            snapshot_id=snapshot_id,
            sequence_number=self.sequence,
            first_row_id=first_row_id,
        )

    def _take_row_ids(self, files: Sequence[DataFile]) -> int:
        """The manifest's first row id. Files without ids of their own take the following ones, in their order."""
        fresh = [file for file in files if file["file-path"] not in self.row_ids]
        if not fresh:
            return min(self.row_ids[file["file-path"]] for file in files)
        first = self.next_row_id
        for file in fresh:
            self.row_ids[file["file-path"]] = self.next_row_id
            self.next_row_id += file["record-count"]
        return first

    def with_row_ids(self, manifest: ManifestFile) -> ManifestFile:
        """Assign row ids to a manifest that was written before the table had lineage."""
        if not self.lineage or manifest["content"] != Content.DATA or manifest["first_row_id"] is not None:
            return manifest
        path = manifest["manifest_path"]
        if path not in self.manifest_row_ids:
            self.manifest_row_ids[path] = self.next_row_id
            self.next_row_id += live_rows(manifest)
        return {**manifest, "first_row_id": self.manifest_row_ids[path]}

    def _kept_manifests(self, parent_id: int | None, snapshot_id: int) -> list[ManifestFile]:
        """The parent's manifests without empty ones, with a group of small ones merged."""
        if parent_id is None:
            return []
        manifests = living(self.state.lists[parent_id])
        group = manifests_to_roll(manifests, lineage=self.lineage)
        if not group:
            return manifests
        gone = {row["manifest_path"] for row in group}
        return [self._rolled(group, snapshot_id), *(row for row in manifests if row["manifest_path"] not in gone)]

    def _rolled(self, group: Sequence[ManifestFile], snapshot_id: int) -> ManifestFile:
        paths = tuple(row["manifest_path"] for row in group)
        if paths not in self.rolled:
            format = EntryFormat(self.state.metadata, group[0]["partition_spec_id"])
            known = self.state.entries
            entries = [entry for row in group for entry in settled_entries(known[row["manifest_path"]], row)]
            location, length = self.write_manifest(format, entries)
            self.rolled[paths] = rolled_row(
                group,
                format.types,
                location=location,
                length=length,
                snapshot_id=snapshot_id,
                sequence=self.sequence,
            )
        return self.rolled[paths]

    def write_manifest(self, format: EntryFormat, entries: Sequence[ManifestEntry]) -> tuple[str, int]:
        """Returns its location and length."""
        location = self.names.manifest(sum(new.entries is not None for new in self.objects))
        content = encode_manifest(self.state.metadata, format, entries)
        self.objects.append(NewObject(location=location, content=content, entries=tuple(entries), types=format.types))
        return location, len(content)
