"""Updates of snapshots and of their names (branches and tags): add, set, remove.

The snapshot log is the history of `main`: it gets an entry each time `main` moves. A snapshot that `main` only passed
through in one change leaves no entry. When a logged snapshot is removed, all history before it goes too.
"""

from lakestream.catalog.spec.updates.draft import Draft
from lakestream.catalog.spec.updates.identity import FIRST_ROW_LINEAGE_VERSION
from lakestream.catalog.spec.updates.snapshot_shape import check_ref, check_snapshot, check_statistics
from lakestream.catalog.spec.values import Json, by_id, wanted, wanted_count, wanted_ids
from lakestream.model.table import MAIN_BRANCH
from lakestream.model.table_errors import CommitConflict, InvalidTableChange

NO_SNAPSHOT = -1
_NOT_OF_THE_REF = ("action", "ref-name")


def add_snapshot(draft: Draft, update: Json) -> None:
    # Readers reject null as a value of the wrong type, and take a missing part for none.
    snapshot = {name: part for name, part in wanted(update, "snapshot", dict).items() if part is not None}
    check_snapshot(snapshot, draft.format_version)
    id, made_ms = snapshot["snapshot-id"], snapshot["timestamp-ms"]
    if id in draft.snapshot_ids:
        raise InvalidTableChange(f"the table has a snapshot {id} already: snapshots are added once")
    _check_sequence_number(draft, snapshot)
    _take_row_ids(draft, snapshot)
    draft.metadata["last-sequence-number"] = max(
        draft.metadata.get("last-sequence-number", 0), snapshot.get("sequence-number", 0)
    )
    draft.metadata["last-updated-ms"] = max(made_ms, draft.metadata.get("last-updated-ms", 0))
    draft.metadata["snapshots"] = [*draft.objects("snapshots"), snapshot]
    draft.snapshot_ids |= {id}
    draft.added_snapshots.add(id)


def set_snapshot_ref(draft: Draft, update: Json) -> None:
    name = wanted(update, "ref-name", str)
    ref = {key: value for key, value in update.items() if key not in _NOT_OF_THE_REF and value is not None}
    check_ref(name, ref, draft.snapshot_ids)
    refs = draft.metadata.get("refs") or {}
    if refs.get(name) == ref:
        return
    draft.metadata["refs"] = {**refs, name: ref}
    if name == MAIN_BRANCH:
        _move_main(draft, ref["snapshot-id"])


def remove_snapshot_ref(draft: Draft, update: Json) -> None:
    _drop_refs(draft, {wanted(update, "ref-name", str)})


def remove_snapshots(draft: Draft, update: Json) -> None:
    ids = set(wanted_ids(update, "snapshot-ids"))
    draft.metadata["snapshots"] = [one for one in draft.objects("snapshots") if one["snapshot-id"] not in ids]
    draft.snapshot_ids -= ids
    for kind in ("statistics", "partition-statistics"):
        if draft.metadata.get(kind):
            draft.metadata[kind] = [one for one in draft.objects(kind) if one.get("snapshot-id") not in ids]
    draft.has_removed_snapshots = True
    refs = draft.metadata.get("refs") or {}
    _drop_refs(draft, {name for name, ref in refs.items() if ref["snapshot-id"] in ids})


def set_statistics(draft: Draft, update: Json, *, kind: str = "statistics") -> None:
    file = wanted(update, kind, dict)
    check_statistics(file, kind)
    others = _other_statistics(draft, kind, file["snapshot-id"])
    draft.metadata[kind] = [*others, file]


def remove_statistics(draft: Draft, update: Json, *, kind: str = "statistics") -> None:
    draft.metadata[kind] = _other_statistics(draft, kind, wanted(update, "snapshot-id", int))


def settle_snapshot_log(draft: Draft) -> None:
    """Update the history of `main` after all updates are applied."""
    current = draft.metadata.get("current-snapshot-id", NO_SNAPSHOT)
    passed_through = draft.added_snapshots - {current}
    if not passed_through and not draft.has_removed_snapshots:
        draft.metadata["snapshot-log"] = draft.objects("snapshot-log")
        return  # nothing is removed, as after most commits: an old table's log is long
    log: list[Json] = []
    for entry in draft.objects("snapshot-log"):
        if entry["snapshot-id"] not in draft.snapshot_ids:
            log.clear()
        elif entry["snapshot-id"] not in passed_through:
            log.append(entry)
    draft.metadata["snapshot-log"] = log


def _check_sequence_number(draft: Draft, snapshot: Json) -> None:
    if draft.format_version == 1:
        return
    number, last = wanted_count(snapshot, "sequence-number"), draft.metadata.get("last-sequence-number", 0)
    if number <= last and snapshot.get("parent-snapshot-id") is not None:
        raise CommitConflict(
            f"the snapshot has sequence number {number} and the table is at {last}: "
            "load the table again, then write the snapshot anew"
        )


def _take_row_ids(draft: Draft, snapshot: Json) -> None:
    """Row ids that a snapshot assigned are never assigned again."""
    if draft.format_version < FIRST_ROW_LINEAGE_VERSION:
        return
    first, next_id = wanted_count(snapshot, "first-row-id"), draft.metadata.get("next-row-id", 0)
    if first < next_id:
        raise CommitConflict(
            f"the snapshot's first row id is {first} and ids below {next_id} are taken: "
            "load the table again, then write the snapshot anew"
        )
    draft.metadata["next-row-id"] = first + wanted_count(snapshot, "added-rows")


def _move_main(draft: Draft, id: int) -> None:
    snapshot = by_id(draft.objects("snapshots"), "snapshot-id", id) if id in draft.added_snapshots else None
    moved_ms = snapshot["timestamp-ms"] if snapshot is not None else draft.now_ms
    draft.metadata["last-updated-ms"] = max(moved_ms, draft.metadata.get("last-updated-ms", 0))
    draft.metadata["current-snapshot-id"] = id
    entry = {"timestamp-ms": draft.metadata["last-updated-ms"], "snapshot-id": id}
    draft.metadata["snapshot-log"] = [*draft.objects("snapshot-log"), entry]


def _drop_refs(draft: Draft, names: set[str]) -> None:
    refs = draft.metadata.get("refs") or {}
    draft.metadata["refs"] = {name: ref for name, ref in refs.items() if name not in names}
    if MAIN_BRANCH in names:
        draft.metadata["current-snapshot-id"] = NO_SNAPSHOT


def _other_statistics(draft: Draft, kind: str, snapshot_id: int) -> list[Json]:
    return [one for one in draft.objects(kind) if one.get("snapshot-id") != snapshot_id]
