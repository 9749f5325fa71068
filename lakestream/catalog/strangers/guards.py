"""Which changes other engines may make to a topic's table: every update of the specification is a row here.

`main` is theirs: they may cluster it, delete and update in it, expire its snapshots, tag it, add columns. Kafka reads
`log`, and only the catalog moves it. Ordinary tables are not guarded.
"""

from collections.abc import Callable, Iterable, Sequence

from lakestream.catalog.commits.log_spec import log_spec_id
from lakestream.catalog.spec.updates.draft import LAST_ADDED
from lakestream.catalog.spec.values import (
    Json,
    Metadata,
    by_id,
    wanted,
    wanted_ids,
    wanted_strings,
    wanted_texts,
)
from lakestream.catalog.strangers.topic_columns import (
    columns_problem,
    system_columns_problem,
)
from lakestream.model.file_compression import UnknownCompression, compression_of
from lakestream.model.table import MAIN_BRANCH, OWN_BRANCHES
from lakestream.model.table_errors import Guarded

DROPPABLE = "lakestream.droppable"
TAKES_ROWS = "lakestream.takes-rows"
"""A property of a topic's table: whether rows that engines append become records. CREATE TABLE sets it."""
_OWN_PREFIX = "lakestream."
_ADDITION = "add-snapshot"
CATALOGS_PROPERTIES = ("write.metadata.path", "encryption.key-id")
SIDE_REF_START = "lakestream-"
"""Refs that exist for a while, as the side branch of a rebuild (catalog/topic/rebuilding.py)."""
_EQUALITY_DELETES = ("added-equality-deletes", "added-equality-delete-files")

Rule = Callable[[Metadata, Json], str | None]
"""Returns the reason to refuse the update, or None."""


def check_change(metadata: Metadata, updates: Sequence[Json]) -> None:
    """Raises Guarded, with the reason, if another engine may not make one of the updates to a topic's table."""
    for update in updates:
        action = wanted(update, "action", str)
        rule = RULES.get(action, _unknown)
        if (reason := rule(metadata, update)) is not None:
            raise Guarded(f"{action} is refused on the table of a topic: {reason}")


def check_heads(before: Metadata, after: Metadata) -> None:
    """Check the result of all updates: our branches have not moved, and `main` exists. Raises Guarded."""
    for name in (*OWN_BRANCHES, MAIN_BRANCH):
        was, now = (metadata["refs"].get(name) for metadata in (before, after))
        if (was is not None and now is None) or (name in OWN_BRANCHES and was != now):
            raise Guarded(f"the change is refused on the table of a topic: the branch '{name}' would be lost by it")


def check_drop(metadata: Metadata, name: str) -> None:
    """Raises Guarded unless the table's properties allow dropping it."""
    if (metadata.get("properties") or {}).get(DROPPABLE, "false").lower() != "true":
        raise Guarded(
            f"{name} is the table of a topic, and DROP TABLE would delete the topic with all its records. To delete "
            "the topic, use `lakestream topic delete`. To let DROP TABLE delete the topic, say so first: "
            f"ALTER TABLE {name} SET TBLPROPERTIES ('{DROPPABLE}'='true')"
        )


def log_is_read_only(name: str) -> Guarded:
    return Guarded(
        f"{name} shows a topic's log and is read-only: change the table itself, or produce to the topic with Kafka"
    )


# --- rules ------------------------------------------------------------------------------------------


def _allowed(metadata: Metadata, update: Json) -> str | None:
    return None


def _unknown(metadata: Metadata, update: Json) -> str | None:
    return "it is not known here"


def _same_uuid(metadata: Metadata, update: Json) -> str | None:
    if wanted(update, "uuid", str).lower() == metadata["table-uuid"]:
        return None
    return "its uuid is how the topic finds it"


def _same_location(metadata: Metadata, update: Json) -> str | None:
    if wanted(update, "location", str).rstrip("/") == metadata["location"]:
        return None
    return "the topic's files stay below the location it was created with"


def is_append(update: Json) -> bool:
    """Whether the update adds a snapshot that only adds rows."""
    if update["action"] != _ADDITION:
        return False
    summary = wanted(wanted(update, "snapshot", dict), "summary", dict)
    return bool(summary.get("operation", "append") == "append")


def takes_rows(metadata: Metadata) -> bool:
    return bool((metadata.get("properties") or {}).get(TAKES_ROWS) == "true")


def _append_where_rows_are_records(metadata: Metadata, update: Json) -> str | None:
    summary = wanted(wanted(update, "snapshot", dict), "summary", dict)
    if is_append(update) and not takes_rows(metadata):
        return (
            "it takes no rows by INSERT, since it was not made by CREATE TABLE. Add rows by producing to the topic, "
            "with a Kafka client or with `lakestream produce TOPIC`: they are in the table within seconds. DELETE, "
            "UPDATE, MERGE and rewriting of the table's files are allowed"
        )
    if any(summary.get(name, "0") != "0" for name in _EQUALITY_DELETES):
        return "equality deletes would also delete rows that arrive later: use position deletes or deletion vectors"
    return None


def _not_log(metadata: Metadata, update: Json) -> str | None:
    branch = wanted(update, "ref-name", str)
    if branch in OWN_BRANCHES or branch.startswith(SIDE_REF_START):
        return f"the branch '{branch}' belongs to the topic: Kafka clients or repairs read it, and only we move it"
    return None


def _no_replacing(metadata: Metadata, update: Json) -> str | None:
    if wanted(update, "ref-name", str) == MAIN_BRANCH:
        return (
            "this is CREATE OR REPLACE TABLE, and would give the field ids of the topic's files to other columns. To "
            "empty the table, DELETE its rows; to change its columns, ALTER it; for a new topic of this name, DROP it, "
            "and CREATE it again"
        )
    return _not_log(metadata, update)


def _no_heads(metadata: Metadata, update: Json) -> str | None:
    ids = set(wanted_ids(update, "snapshot-ids"))
    heads = [name for name in (*OWN_BRANCHES, MAIN_BRANCH) if metadata["refs"].get(name, {}).get("snapshot-id") in ids]
    return f"a snapshot in it is the head of the branch '{heads[0]}'" if heads else None


def _removable_properties(metadata: Metadata, update: Json) -> str | None:
    return _own_properties(wanted_strings(update, "removals" if "removals" in update else "removed"))


def _settable_properties(metadata: Metadata, update: Json) -> str | None:
    changes = wanted_texts(update, "updates" if "updates" in update else "updated")
    try:
        compression_of({**(metadata.get("properties") or {}), **changes})
    except UnknownCompression as error:
        return str(error)
    return _own_properties(changes)


def _own_properties(names: Iterable[str]) -> str | None:
    own = [name for name in names if _is_own_property(name)]
    return f"'{own[0]}' is set by Lakestream: change the topic's configs instead" if own else None


def _is_own_property(name: str) -> bool:
    return (name.startswith(_OWN_PREFIX) and name != DROPPABLE) or name in CATALOGS_PROPERTIES


def _same_system_columns(metadata: Metadata, update: Json) -> str | None:
    schema = wanted(update, "schema", dict)
    return system_columns_problem(metadata, schema) or columns_problem(metadata, schema)


def _schema_with_system_columns(metadata: Metadata, update: Json) -> str | None:
    id = wanted(update, "schema-id", int)
    schema = by_id(metadata["schemas"], "schema-id", id)
    # A schema added in the same change was checked when it was added.
    return None if id == LAST_ADDED or schema is None else system_columns_problem(metadata, schema)


def _not_the_logs_spec(metadata: Metadata, update: Json) -> str | None:
    log_spec = log_spec_id(metadata)
    return f"the log's files have partition spec {log_spec}" if log_spec in wanted_ids(update, "spec-ids") else None


RULES: dict[str, Rule] = {
    "assign-uuid": _same_uuid,
    "upgrade-format-version": _allowed,
    "set-location": _same_location,
    "set-properties": _settable_properties,
    "remove-properties": _removable_properties,
    "add-encryption-key": _allowed,
    "remove-encryption-key": _allowed,
    "add-schema": _same_system_columns,
    "set-current-schema": _schema_with_system_columns,
    "remove-schemas": _allowed,
    "add-spec": _allowed,
    "set-default-spec": _allowed,
    "remove-partition-specs": _not_the_logs_spec,
    "add-sort-order": _allowed,
    "set-default-sort-order": _allowed,
    _ADDITION: _append_where_rows_are_records,
    "set-snapshot-ref": _not_log,
    "remove-snapshot-ref": _no_replacing,
    "remove-snapshots": _no_heads,
    "set-statistics": _allowed,
    "remove-statistics": _allowed,
    "set-partition-statistics": _allowed,
    "remove-partition-statistics": _allowed,
}
