"""The table of a topic: its name, its first metadata, and `<table>__log`, which shows the same table as the log.

topic "Shop.Orders-v2"  ->  table "shop_orders_v2", branches `log` and `main`, both at one empty first snapshot
shop_orders_v2__log     ->  the same files, `log` in place of `main`, every system column shown; nobody writes to it
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lakestream.catalog.commits.snapshots import NewIds, append_files
from lakestream.catalog.commits.table_state import NewObject, TableState
from lakestream.catalog.files.commit_names import CommitNames
from lakestream.catalog.spec.apply import apply_updates
from lakestream.catalog.spec.creation import empty_table
from lakestream.catalog.spec.values import Json, Metadata, by_id
from lakestream.model.table import LOG_BRANCH, MAIN_BRANCH, OWN_BRANCHES, TableId
from lakestream.model.topic import TopicId
from lakestream.world.ids import derived_uuid

TOPIC_NAME = "lakestream.topic"
TOPIC_ID = "lakestream.topic-id"
"""Table properties that name the topic. Protected like all properties with this prefix."""
GC_ENABLED = "gc.enabled"
"""A table property of Iceberg: `false` means that others use the data files as well."""
TOPIC_PROPERTIES = {
    "write.parquet.compression-codec": "zstd",
    # A stock UPDATE concurrent with our appends fails under the default, serializable.
    "write.delete.isolation-level": "snapshot",
    "write.update.isolation-level": "snapshot",
    "write.merge.isolation-level": "snapshot",
    # A table that gets a commit every few seconds must not keep a metadata file for each.
    "write.metadata.delete-after-commit.enabled": "true",
    "write.metadata.previous-versions-max": "20",
    # ... and each file describes two hundred similar commits: gzip writes a quarter of the length.
    "write.metadata.compression-codec": "gzip",
}

_METADATA_TABLES = frozenset(
    {
        *("entries", "files", "data_files", "delete_files", "history", "metadata_log_entries", "snapshots", "refs"),
        *("manifests", "partitions", "position_deletes", "all_data_files", "all_delete_files", "all_files"),
        *("all_manifests", "all_entries"),
    }
)
"""Engines read these names as a part of the table before them, not as a table."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_")


def table_name(topic_name: str, taken: Collection[str]) -> str:
    """A name for a topic's table that is not in `taken` (lower-case names)."""
    plain = "".join(one if one in _NAME_CHARACTERS else "_" for one in topic_name.lower())
    name = f"{plain}_topic" if plain in _METADATA_TABLES or branch_of(plain) else plain
    candidates = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    return next(one for one in candidates if not any(each in taken for each in all_names(one)))


def table_id_of(topic: TopicId) -> TableId:
    """Always the same for a topic, so leftovers of a crash lie where the table will be."""
    return derived_uuid(topic.hex())


def all_names(table: str) -> list[str]:
    """The names under which a topic's table is found."""
    return [table, *(table + suffix_of(branch) for branch in OWN_BRANCHES)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicTableSpec:
    """The request to create a topic's table."""

    fields: Sequence[Json]
    """The columns with their ids."""
    last_column_id: int
    """Columns that engines add are numbered from above it."""
    properties: Mapping[str, str]
    format_version: int = 2
    layout: Sequence[Json] = ()
    """Updates that set a partition spec and a sort order for other engines. The log's own files have spec 0, which is
    unpartitioned."""


def topic_table_without_snapshot(asked: TopicTableSpec, *, uuid: str, location: str, now_ms: int) -> Metadata:
    made = apply_updates(
        empty_table(format_version=asked.format_version, now_ms=now_ms),
        [
            {"action": "assign-uuid", "uuid": uuid},
            {"action": "set-location", "location": location},
            {"action": "add-schema", "schema": {"type": "struct", "fields": list(asked.fields)}},
            {"action": "set-current-schema", "schema-id": -1},
            {"action": "add-spec", "spec": {"fields": []}},
            {"action": "set-default-spec", "spec-id": -1},
            {"action": "add-sort-order", "sort-order": {"fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1},
            *asked.layout,
            {"action": "set-properties", "updates": {**TOPIC_PROPERTIES, **asked.properties}},
        ],
        now_ms=now_ms,
    )
    made["last-column-id"] = max(made["last-column-id"], asked.last_column_id)
    return made


def new_topic_table(
    asked: TopicTableSpec, *, uuid: str, location: str, now_ms: int, ids: NewIds, names: CommitNames
) -> tuple[Metadata, tuple[NewObject, ...]]:
    """The metadata, and the objects to write before it.

    There is a snapshot from the start: some readers treat a table without one differently."""
    made = topic_table_without_snapshot(asked, uuid=uuid, location=location, now_ms=now_ms)
    empty = TableState(metadata=made, lists={}, entries={})
    plan = append_files(empty, {LOG_BRANCH: (), MAIN_BRANCH: ()}, summary={}, now_ms=now_ms, ids=ids, names=names)
    return apply_updates(made, plan.updates, now_ms=now_ms), plan.objects


def branch_table(metadata: Metadata, branch: str, fields: Sequence[Json]) -> Metadata:
    """The topic's table with one of our branches in place of `main`. `fields` are shown as given, whatever the table's
    own schema says. If there is no such branch yet, there is no snapshot.

    Its folder is the table's own, so it declares that others use its files too: it cannot tell orphans and garbage."""
    head = (metadata["refs"].get(branch) or {}).get("snapshot-id")
    # Former schemas too: a snapshot read by its id is read with its own schema, even the head.
    schemas = [_with_fields(schema, fields) for schema in metadata["schemas"]]
    ids = [field["id"] for schema in schemas for field in schema["fields"]]
    return {
        **metadata,
        # Always the same for a table, and different from the table's own: engines tell tables apart by it.
        "table-uuid": derived_uuid(metadata["table-uuid"] + suffix_of(branch)),
        "schemas": schemas,
        "last-column-id": max([metadata["last-column-id"], *ids]),
        "properties": {**(metadata.get("properties") or {}), GC_ENABLED: "false"},
        **(_at_head(metadata, head) if head is not None else _empty(metadata, branch)),
    }


def _empty(metadata: Metadata, branch: str) -> Json:
    """Point to a subfolder without content: in the table's own folder, other engines' files would be orphans of this
    one. Leave out the table's snapshots: DuckDB takes the last of them for the current one."""
    nowhere = f"{metadata['location']}/{branch}"
    return {"location": nowhere, "current-snapshot-id": None, "refs": {}, "snapshot-log": [], "snapshots": []}


def _at_head(metadata: Metadata, head: int) -> Json:
    snapshot = by_id(metadata["snapshots"], "snapshot-id", head) or {}
    return {
        "current-snapshot-id": head,
        "refs": {MAIN_BRANCH: {"type": "branch", "snapshot-id": head}},
        "snapshot-log": [{"snapshot-id": head, "timestamp-ms": snapshot.get("timestamp-ms", 0)}],
    }


def suffix_of(branch: str) -> str:
    return f"__{branch}"


def branch_of(name: str) -> tuple[str, str] | None:
    """The table and our branch that this name means, or None."""
    for branch in OWN_BRANCHES:
        suffix = suffix_of(branch)
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix), branch
    return None


def _with_fields(schema: Json, shown: Sequence[Json]) -> Json:
    """Another engine's column gives way to a shown column of its name, which the table has dropped or renamed."""
    by_id, taken = {field["id"]: field for field in shown}, {field["name"].lower() for field in shown}
    own = [by_id.pop(field["id"]) if field["id"] in by_id else _beside(field, taken) for field in schema["fields"]]
    return {**schema, "fields": [*own, *by_id.values()]}


def _beside(field: Json, taken: set[str]) -> Json:
    name = field["name"]
    candidates = (name, *(f"{name}_{number}" for number in range(2, len(taken) + 3)))
    free = next(one for one in candidates if one.lower() not in taken)
    taken.add(free.lower())
    return {**field, "name": free}
