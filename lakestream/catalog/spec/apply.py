"""The one function that changes a table: metadata and updates in, the next metadata out. Pure.

    base, [{"action": "add-snapshot", ...}, {"action": "set-snapshot-ref", ...}]  ->  next metadata

Every update of the REST specification for tables is a row of TABLE_UPDATES; views have their own (views.py). All
changes to a table, from other engines and from our own compaction, go through here.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from lakestream.catalog.spec.updates import identity, layout, schemas, snapshots, sources
from lakestream.catalog.spec.updates.draft import Draft
from lakestream.catalog.spec.values import Json, Metadata, wanted
from lakestream.model.table_errors import InvalidTableChange

Update = Callable[[Draft, Json], None]

TABLE_UPDATES: dict[str, Update] = {
    "assign-uuid": identity.assign_uuid,
    "upgrade-format-version": identity.upgrade_format_version,
    "set-location": identity.set_location,
    "set-properties": identity.set_properties,
    "remove-properties": identity.remove_properties,
    "add-encryption-key": identity.add_encryption_key,
    "remove-encryption-key": identity.remove_encryption_key,
    "add-schema": schemas.add_schema,
    "set-current-schema": schemas.set_current_schema,
    "remove-schemas": schemas.remove_schemas,
    "add-spec": layout.add_spec,
    "set-default-spec": layout.set_default_spec,
    "remove-partition-specs": layout.remove_partition_specs,
    "add-sort-order": layout.add_sort_order,
    "set-default-sort-order": layout.set_default_sort_order,
    "add-snapshot": snapshots.add_snapshot,
    "set-snapshot-ref": snapshots.set_snapshot_ref,
    "remove-snapshot-ref": snapshots.remove_snapshot_ref,
    "remove-snapshots": snapshots.remove_snapshots,
    "set-statistics": snapshots.set_statistics,
    "remove-statistics": snapshots.remove_statistics,
    "set-partition-statistics": partial(snapshots.set_statistics, kind="partition-statistics"),
    "remove-partition-statistics": partial(snapshots.remove_statistics, kind="partition-statistics"),
}

_OF_THE_LAYOUT = frozenset({"add-spec", "set-current-schema", "set-default-spec", "set-default-sort-order"})


def apply_updates(base: Metadata, updates: Sequence[Json], *, now_ms: int) -> Metadata:
    """The next metadata of a table; `base` is not changed. Raises InvalidTableChange, CommitConflict."""
    snapshot_ids = {snapshot["snapshot-id"] for snapshot in base.get("snapshots") or ()}
    draft = Draft(metadata=dict(base), now_ms=now_ms, snapshot_ids=snapshot_ids)
    apply_each(draft, updates, TABLE_UPDATES)
    if not draft.added_snapshots:
        draft.metadata["last-updated-ms"] = max(now_ms, base.get("last-updated-ms", 0))
    snapshots.settle_snapshot_log(draft)
    if any(update["action"] in _OF_THE_LAYOUT for update in updates):
        sources.check_compatible(draft.metadata)
    return draft.metadata


def apply_each(draft: Draft, updates: Sequence[Json], known: Mapping[str, Update]) -> None:
    for update in updates:
        action = wanted(update, "action", str)
        if action not in known:
            raise InvalidTableChange(f"there is no update '{action}' here: use one of {', '.join(sorted(known))}")
        known[action](draft, update)
