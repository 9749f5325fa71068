"""The table of a topic: its name, its first metadata, and `<table>__log`, the same table seen as the log.

topic "Shop.Orders-v2"  ->  table "shop_orders_v2", branches `log` and `main`, both at one empty first snapshot
shop_orders_v2__log     ->  the same files, `log` in place of `main`, every system column shown; nobody writes to it
"""

from collections.abc import Collection, Mapping, Sequence

from lakestream.catalog.apply import apply_updates
from lakestream.catalog.creation import empty_table
from lakestream.catalog.snapshots import NewIds, NewObject, TableState, append_files
from lakestream.catalog.values import Json, Metadata, by_id
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH
from lakestream.world.ids import derived_uuid

LOG_SUFFIX = "__log"

TOPIC_PROPERTIES = {
    "write.parquet.compression-codec": "zstd",
    # A stock UPDATE beside our appends fails under the default, serializable.
    "write.delete.isolation-level": "snapshot",
    "write.update.isolation-level": "snapshot",
    "write.merge.isolation-level": "snapshot",
    # A table that gets a commit every few seconds must not keep a metadata file for each.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
}

_METADATA_TABLES = frozenset(
    {
        *("entries", "files", "data_files", "delete_files", "history", "metadata_log_entries", "snapshots", "refs"),
        *("manifests", "partitions", "position_deletes", "all_data_files", "all_delete_files", "all_files"),
        *("all_manifests", "all_entries"),
    }
)
"""Names that engines read as a part of the table before them, not as a table."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def table_name(topic_name: str, taken: Collection[str]) -> str:
    """A name for a topic's table that is not among `taken`, which holds lower-case names."""
    plain = "".join(one if one in _NAME_CHARACTERS else "_" for one in topic_name.lower())
    name = f"{plain}_topic" if plain in _METADATA_TABLES or plain.endswith(LOG_SUFFIX) else plain
    candidates = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in candidates if one not in taken and f"{one}{LOG_SUFFIX}" not in taken)


def new_topic_table(
    fields: Sequence[Json],
    properties: Mapping[str, str],
    *,
    location: str,
    now_ms: int,
    ids: NewIds,
    uuid: str,
    last_column_id: int,
    format_version: int = 2,
) -> tuple[Metadata, tuple[NewObject, ...]]:
    """The metadata, and the objects to write before it. `fields` are the columns with the ids that they shall have;
    columns that engines add are numbered from above `last_column_id`.

    There is a snapshot from the start: some readers treat a table without one differently.
    """
    made = apply_updates(
        empty_table(format_version=format_version, now_ms=now_ms),
        [
            {"action": "assign-uuid", "uuid": uuid},
            {"action": "set-location", "location": location},
            {"action": "add-schema", "schema": {"type": "struct", "fields": list(fields)}},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            {"action": "set-properties", "updates": {**TOPIC_PROPERTIES, **properties}},
        ],
        now_ms=now_ms,
    )
    made["last-column-id"] = max(made["last-column-id"], last_column_id)
    empty = TableState(metadata=made, lists={}, entries={})
    plan = append_files(empty, {LOG_BRANCH: (), MAIN_BRANCH: ()}, summary={}, now_ms=now_ms, ids=ids)
    return apply_updates(made, plan.updates, now_ms=now_ms), plan.objects


def log_table(metadata: Metadata, system_fields: Sequence[Json]) -> Metadata:
    """The topic's table with `log` in place of `main`, and those of `system_fields` that its schema hides shown."""
    log = metadata["refs"][LOG_BRANCH]
    schema = _with_fields(by_id(metadata["schemas"], "schema-id", metadata["current-schema-id"]) or {}, system_fields)
    others = [one for one in metadata["schemas"] if one["schema-id"] != metadata["current-schema-id"]]
    head = by_id(metadata["snapshots"], "snapshot-id", log["snapshot-id"]) or {}
    return {
        **metadata,
        # Always the same for a table, and not the table's own: engines tell tables apart by it.
        "table-uuid": derived_uuid(metadata["table-uuid"] + LOG_SUFFIX),
        "schemas": [*others, schema],
        "last-column-id": max([metadata["last-column-id"], *(field["id"] for field in schema["fields"])]),
        "current-snapshot-id": log["snapshot-id"],
        "refs": {MAIN_BRANCH: {"type": "branch", "snapshot-id": log["snapshot-id"]}},
        "snapshot-log": [{"snapshot-id": log["snapshot-id"], "timestamp-ms": head.get("timestamp-ms", 0)}],
    }


def log_of(name: str) -> str | None:
    """The table whose log this name means, or None."""
    return name.removesuffix(LOG_SUFFIX) if name.endswith(LOG_SUFFIX) and name != LOG_SUFFIX else None


def _with_fields(schema: Json, system_fields: Sequence[Json]) -> Json:
    shown = {field["id"] for field in schema["fields"]}
    return {**schema, "fields": [*schema["fields"], *(field for field in system_fields if field["id"] not in shown)]}
