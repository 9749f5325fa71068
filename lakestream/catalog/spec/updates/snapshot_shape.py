"""Checks that readers can read snapshots, refs and statistics: every part present and of the right type.

Readers of a metadata file fail on the first bad one, and then cannot load the table.
"""

from collections.abc import Set as AbstractSet

from lakestream.catalog.spec.values import (
    INT_MAX,
    Json,
    optional,
    shown,
    wanted,
    wanted_count,
    wanted_ids,
    wanted_int,
    wanted_objects,
    wanted_strings,
    wanted_texts,
)
from lakestream.model.table import MAIN_BRANCH
from lakestream.model.table_errors import InvalidTableChange

_REF_TYPES = ("branch", "tag")
_OPERATIONS = ("append", "replace", "overwrite", "delete")
_NUMBER_KEPT = "min-snapshots-to-keep"
_OF_BRANCHES = (_NUMBER_KEPT, "max-snapshot-age-ms")
_RETENTION = (*_OF_BRANCHES, "max-ref-age-ms")


def check_snapshot(snapshot: Json, format_version: int) -> None:
    """Raises InvalidTableChange."""
    wanted(snapshot, "snapshot-id", int)
    wanted(snapshot, "timestamp-ms", int)
    if "manifests" in snapshot and "manifest-list" not in snapshot:
        wanted_strings(snapshot, "manifests")  # version 1 may name them one by one
    else:
        wanted(snapshot, "manifest-list", str)
    _check_summary(snapshot)
    if "parent-snapshot-id" in snapshot:
        wanted(snapshot, "parent-snapshot-id", int)
    optional(snapshot, "key-id", str)
    if snapshot.get("schema-id") is not None:
        wanted_int(snapshot, "schema-id")
    if "sequence-number" in snapshot and wanted_count(snapshot, "sequence-number") > 0 and format_version == 1:
        raise InvalidTableChange("tables of version 1 have no sequence numbers: leave it out, or upgrade the table")
    _check_row_ids(snapshot)


def check_ref(name: str, ref: Json, snapshot_ids: AbstractSet[int]) -> None:
    """Check a branch or tag of a table with these snapshots. Raises InvalidTableChange."""
    id, kind = wanted(ref, "snapshot-id", int), wanted(ref, "type", str)
    if id not in snapshot_ids:
        raise InvalidTableChange(f"'{name}' cannot name snapshot {id}, which the table does not have")
    if kind not in _REF_TYPES or (name == MAIN_BRANCH and kind != "branch"):
        raise InvalidTableChange(f"'{name}' cannot be a {kind}: refs are branches or tags, and main is a branch")
    for limit in _RETENTION:
        _check_retention(name, kind, ref, limit)


def check_statistics(file: Json, kind: str) -> None:
    """`kind` is the table's list that holds them. Raises InvalidTableChange."""
    wanted(file, "snapshot-id", int)
    wanted(file, "statistics-path", str)
    wanted_count(file, "file-size-in-bytes")
    if kind == "statistics":
        _check_blobs(file)


def _check_summary(snapshot: Json) -> None:
    summary = wanted_texts(snapshot, "summary") if "summary" in snapshot else {}
    if (operation := summary.get("operation")) is not None and operation not in _OPERATIONS:
        raise InvalidTableChange(f"{shown(operation)} is no operation: use one of {', '.join(_OPERATIONS)}")


def _check_row_ids(snapshot: Json) -> None:
    """A snapshot with a first row id has a number of rows; snapshots from before version 3 have neither."""
    has_ids = snapshot.get("first-row-id") is not None
    if has_ids:
        wanted_count(snapshot, "first-row-id")
    if has_ids or snapshot.get("added-rows") is not None:
        wanted_count(snapshot, "added-rows")


def _check_retention(name: str, kind: str, ref: Json, limit: str) -> None:
    if (asked := optional(ref, limit, int)) is None:
        return
    if asked < 1:
        raise InvalidTableChange(f"'{limit}' of '{name}' must be above 0, and is {asked}: leave it out for no limit")
    if limit == _NUMBER_KEPT:
        wanted_int(ref, limit)
    if kind == "tag" and limit in _OF_BRANCHES:
        raise InvalidTableChange(f"'{name}' is a tag, which names one snapshot: '{limit}' is for branches")


def _check_blobs(file: Json) -> None:
    wanted_count(file, "file-footer-size-in-bytes")
    for blob in wanted_objects(file, "blob-metadata"):
        wanted(blob, "type", str)
        if any(id > INT_MAX for id in wanted_ids(blob, "fields")):
            raise InvalidTableChange("'fields' of a blob must be ids of columns")
        for name in ("snapshot-id", "sequence-number"):
            wanted(blob, name, int)
        if "properties" in blob:
            wanted_texts(blob, "properties")
