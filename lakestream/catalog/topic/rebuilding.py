"""Rebuilding `main` from `log`: a side branch gets the log's rows, is clustered there, and takes the place of `main`.

    log's files without those that SQL should not see        -> branch `lakestream-rebuild`, by reference
                                                                tag `lakestream-rebuild-base`: `log` as it was then
    clustered on the side branch, round after round          (table/rebuilding)
    the side branch, without files that left `log` since
      + files that `log` got since + repaired rows of `main`  -> one snapshot of `main`; branch and tag go

Nobody reads the side branch. Compaction and inserts go on, and files are not merged meanwhile: so what `log` has and
had not at the tag is exactly what the side branch lacks. The swap counts the rows before it believes that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lakestream.catalog.commits.lineage import carried_on
from lakestream.catalog.commits.snapshots import KEPT_FOR_EVER_MS, NewIds, Planning
from lakestream.catalog.commits.summaries import REBUILD, REBUILT
from lakestream.catalog.commits.table_state import CommitPlan, TableState, has_lineage, head_of
from lakestream.catalog.files.commit_names import CLUSTERED_FILE_END, LOG_FILE_END, CommitNames
from lakestream.catalog.files.locations import plain_location
from lakestream.catalog.manifests.entries import EntryFormat, ManifestEntry, ManifestFile, Status, settled_entries
from lakestream.catalog.manifests.manifests import Content, manifest_row
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH
from lakestream.model.table_errors import InvalidTableChange, LedgerConflict

REBUILD_BRANCH = "lakestream-rebuild"
REBUILD_BASE = "lakestream-rebuild-base"
_COUNTS = {"files": "data-files", "rows": "records", "bytes": "files-size"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildState:
    under_way: str | None
    """The request whose side branch there is."""
    done: Mapping[str, Json]
    """What came of each request whose swap a kept snapshot shows: files, rows and bytes of `main` then."""


def rebuild_state(metadata: Metadata) -> RebuildState:
    summaries = [snapshot.get("summary") or {} for snapshot in metadata["snapshots"]]
    return RebuildState(
        under_way=_summary(metadata, head_of(metadata, REBUILD_BRANCH)).get(REBUILD)
        if is_being_rebuilt(metadata)
        else None,
        done={
            summary[REBUILT]: {name: int(summary[f"total-{total}"]) for name, total in _COUNTS.items()}
            for summary in summaries
            if REBUILT in summary
        },
    )


def is_being_rebuilt(metadata: Metadata) -> bool:
    return {REBUILD_BRANCH, REBUILD_BASE} <= (metadata.get("refs") or {}).keys()


def plan_side_branch(state: TableState, id: str, *, now_ms: int, ids: NewIds, names: CommitNames) -> CommitPlan:
    """`state` holds the entries of all data manifests of `log`."""
    log = head_of(state.metadata, LOG_BRANCH)
    if log is None or has_lineage(state.metadata):
        raise InvalidTableChange(
            "a table of format version 3 is not rebuilt: its rows have ids by their place in a file"
        )
    planning = Planning(state=state, summary={REBUILD: id}, now_ms=now_ms, ids=ids, names=names)
    snapshot = _with_files(planning, None, [(log, _is_shown)])
    updates = [*planning.updates, _ref(REBUILD_BRANCH, "branch", snapshot), _ref(REBUILD_BASE, "tag", log)]
    return CommitPlan(updates=tuple(updates), objects=tuple(planning.objects), heads={REBUILD_BRANCH: snapshot})


def plan_swap(
    state: TableState, id: str, *, own_folder: str, now_ms: int, ids: NewIds, names: CommitNames
) -> CommitPlan:
    """`state` holds the entries of all data manifests of `log`, `main` and the two refs. Raises LedgerConflict."""
    metadata = state.metadata
    heads = {ref: head_of(metadata, ref) for ref in (LOG_BRANCH, MAIN_BRANCH, REBUILD_BRANCH, REBUILD_BASE)}
    log, main, side, base = (_there(heads[ref], ref) for ref in heads)
    now, before = ({entry.path: entry.rows for entry in _entries(state, head)} for head in (log, base))
    copied = {entry.path: entry.rows for entry in _entries(state, side)}
    shown_before = {path: rows for path, rows in before.items() if _is_shown(path)}
    has, should_have = sum(copied.values()), sum(shown_before.values())
    if has != should_have:
        raise LedgerConflict(f"the side branch has {has} rows where the log had {should_have}: rebuild anew")
    planning = Planning(
        state=state, summary={REBUILT: id, **carried_on(metadata, log)}, now_ms=now_ms, ids=ids, names=names
    )
    on_log = {plain_location(path) for path in now}
    snapshot = _with_files(
        planning,
        main,
        [
            (side, lambda path: path in now or path.endswith(CLUSTERED_FILE_END)),
            (log, lambda path: _is_shown(path) and path not in before),
            (main, lambda path: _is_repaired(path, own_folder, on_log)),
        ],
    )
    updates = [*planning.updates, _ref(MAIN_BRANCH, "branch", snapshot, metadata), *without_side_branch(metadata)]
    return CommitPlan(updates=tuple(updates), objects=tuple(planning.objects), heads={MAIN_BRANCH: snapshot})


def without_side_branch(metadata: Metadata) -> list[Json]:
    refs = metadata.get("refs") or {}
    own = [name for name in (REBUILD_BRANCH, REBUILD_BASE) if name in refs]
    return [{"action": "remove-snapshot-ref", "ref-name": name} for name in own]


def _is_shown(path: str) -> bool:
    return not path.endswith(LOG_FILE_END)


def _is_repaired(path: str, own_folder: str, on_log: set[str]) -> bool:
    """Whether `main` alone has these rows: of values that were set aside, and repaired."""
    is_ours = path.startswith(own_folder) and not path.endswith(CLUSTERED_FILE_END)
    return is_ours and plain_location(path) not in on_log


Chosen = Callable[[str], bool]


def _with_files(planning: Planning, parent: int | None, sources: Sequence[tuple[int, Chosen]]) -> int:
    """A snapshot with the chosen files of other snapshots, each once. Returns its id."""
    snapshot_id, first_row_id = planning.begin(), planning.next_row_id
    manifests: list[ManifestFile] = []
    taken: list[tuple[EntryFormat, ManifestEntry]] = []
    seen: set[str] = set()
    for head, chosen in sources:
        for row in _data(planning.state, head):
            format = EntryFormat(planning.state.metadata, row["partition_spec_id"])
            living = settled_entries(planning.state.entries[row["manifest_path"]], row)
            kept = [entry for entry in living if chosen(entry.path) and entry.path not in seen]
            seen |= {entry.path for entry in kept}
            taken += [(format, entry) for entry in kept]
            if kept:
                manifests.append(
                    row if len(kept) == len(living) else _written(planning, format, kept, row, snapshot_id)
                )
    planning.end(snapshot_id, parent, manifests, _told(taken, planning.summary), first_row_id)
    return snapshot_id


def _written(
    planning: Planning, format: EntryFormat, kept: Sequence[ManifestEntry], before: ManifestFile, snapshot_id: int
) -> ManifestFile:
    location, length = planning.write_manifest(format, kept)
    row = manifest_row(
        format,
        kept,
        [{} for _ in kept],
        location=location,
        length=length,
        snapshot_id=snapshot_id,
        sequence_number=planning.sequence,
        first_row_id=None,
    )
    return {**row, "partitions": before["partitions"]}


def _told(taken: Sequence[tuple[EntryFormat, ManifestEntry]], extra: Mapping[str, str]) -> dict[str, str]:
    """The summary. To followers of appends no row is new: they skip a `replace`."""
    totals = {
        "total-data-files": len(taken),
        "total-records": sum(entry.rows for _, entry in taken),
        "total-files-size": sum(format.file_bytes(entry) for format, entry in taken),
        "total-delete-files": 0,
        "total-position-deletes": 0,
        "total-equality-deletes": 0,
    }
    return {"operation": "replace", **{name: str(total) for name, total in totals.items()}, **extra}


def _entries(state: TableState, head: int) -> Iterable[ManifestEntry]:
    for row in _data(state, head):
        yield from (entry for entry in state.entries[row["manifest_path"]] if entry.status is not Status.DELETED)


def _data(state: TableState, head: int) -> list[ManifestFile]:
    return [row for row in state.lists[head] if row["content"] == Content.DATA]


def _there(head: int | None, ref: str) -> int:
    if head is None:
        raise LedgerConflict(f"the table has no {ref} any more: rebuild anew")
    return head


def _summary(metadata: Metadata, head: int | None) -> Mapping[str, str]:
    snapshot = None if head is None else by_id(metadata["snapshots"], "snapshot-id", head)
    return (snapshot or {}).get("summary") or {}


def _ref(name: str, kind: str, snapshot: int, metadata: Metadata | None = None) -> Json:
    """A ref that no expiry removes, or a known one moved."""
    known = ((metadata or {}).get("refs") or {}).get(name) or {"type": kind, "max-ref-age-ms": KEPT_FOR_EVER_MS}
    return {**known, "action": "set-snapshot-ref", "ref-name": name, "snapshot-id": snapshot}
