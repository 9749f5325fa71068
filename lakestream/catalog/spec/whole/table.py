"""Checks a table's whole metadata, and completes old files with the parts that every format version has by now.

    version 1 from before there were lists and refs  ->  completed  ->  the same table as readers understand it

Readers supply what old files lack: the one schema is schema 0, the current snapshot is the head of main. Such a
reader's change relies on this, so it is applied to the completed table.
"""

from lakestream.catalog.spec.updates.identity import (
    FIRST_ROW_LINEAGE_VERSION,
    FORMAT_VERSIONS,
    check_encryption_key,
    checked_uuid,
)
from lakestream.catalog.spec.updates.layout import PARTITION_FIELD_ID_BEFORE_FIRST, UNSORTED_ORDER_ID
from lakestream.catalog.spec.updates.schemas import highest_field_id
from lakestream.catalog.spec.updates.snapshots import NO_SNAPSHOT
from lakestream.catalog.spec.values import (
    Json,
    Metadata,
    listed,
    wanted,
    wanted_count,
    wanted_int,
    wanted_objects,
    wanted_texts,
)
from lakestream.catalog.spec.whole.history import check_whole_history
from lakestream.catalog.spec.whole.layout import check_whole_layout
from lakestream.model.table import MAIN_BRANCH
from lakestream.model.table_errors import InvalidTableChange

_SINCE_V2 = ("schemas", "partition-specs", "last-partition-id", "sort-orders", "last-sequence-number")
_NEVER_NULL = (
    *("schemas", "partition-specs", "sort-orders", "properties", "refs", "snapshots"),
    *("snapshot-log", "metadata-log", "statistics", "partition-statistics", "encryption-keys"),
)
"""Fields in which Java's reader or PyIceberg rejects null. Old files leave such fields out."""


def completed(metadata: Metadata) -> Metadata:
    """The same table with the parts that a reader would supply. Most tables are complete, and returned as they are."""
    for name, made in _MADE_UP.items():
        if metadata.get(name) is None:
            metadata = metadata | made(metadata)
    return metadata if _has_partition_ids(metadata) else metadata | _partition_ids(metadata)


def check_offered(metadata: Metadata) -> None:
    """Check a file that a client offers as a table. Raises InvalidTableChange if nobody could read or change it."""
    for name in _NEVER_NULL:
        if name in metadata and metadata[name] is None:
            raise InvalidTableChange(f"'{name}' of the table is null, where readers stop: leave it out of the file")
    wanted_int(metadata, "last-column-id")
    is_v1 = wanted(metadata, "format-version", int) == 1
    for name in () if is_v1 else _SINCE_V2:
        if metadata.get(name) is None:
            raise InvalidTableChange(f"'{name}' may be missing in version 1 only: write the file anew with it")
    for spec in listed(metadata, "partition-specs") or [{"fields": listed(metadata, "partition-spec")}]:
        _check_numbered(spec, may_be_missing=is_v1)
    check_whole(completed(metadata))


def check_whole(metadata: Metadata) -> None:
    """Raises InvalidTableChange for a table that nobody could read or change."""
    version = wanted(metadata, "format-version", int)
    if version not in FORMAT_VERSIONS:
        raise InvalidTableChange(f"there is no format version {version}: use one of {FORMAT_VERSIONS}")
    checked_uuid(wanted(metadata, "table-uuid", str))
    if not wanted(metadata, "location", str):
        raise InvalidTableChange("'location' of the table is empty: name the folder of its files")
    wanted(metadata, "last-updated-ms", int)
    if version >= FIRST_ROW_LINEAGE_VERSION:
        wanted_count(metadata, "next-row-id")
    if metadata.get("properties") is not None:
        wanted_texts(metadata, "properties")
    for key in listed(metadata, "encryption-keys"):
        check_encryption_key(key)
    check_whole_layout(metadata)
    check_whole_history(metadata)


def _check_numbered(spec: Json, *, may_be_missing: bool) -> None:
    """If no field has an id, readers of version 1 number them all. They do not guess some."""
    numbered = ["field-id" in field for field in wanted_objects(spec, "fields")]
    if not all(numbered) and (any(numbered) or not may_be_missing):
        raise InvalidTableChange("a partition field has no 'field-id': write the file anew, with one for each")


def _refs(metadata: Metadata) -> Metadata:
    current = metadata.get("current-snapshot-id")
    main = {"snapshot-id": current, "type": "branch"}
    return {"refs": {} if current in (None, NO_SNAPSHOT) else {MAIN_BRANCH: main}}


def _schemas(metadata: Metadata) -> Metadata:
    schema = wanted(metadata, "schema", dict)
    only = {**schema, "schema-id": schema.get("schema-id", 0)}
    columns = metadata.get("last-column-id") or highest_field_id(schema)
    return {"schemas": [only], "current-schema-id": only["schema-id"], "last-column-id": columns}


def _specs(metadata: Metadata) -> Metadata:
    fields = wanted_objects(metadata, "partition-spec")
    return {"partition-specs": [{"spec-id": 0, "fields": fields}], "default-spec-id": 0}


def _has_partition_ids(metadata: Metadata) -> bool:
    """Partition fields of version 1 may have no ids."""
    fields = (field for spec in wanted_objects(metadata, "partition-specs") for field in wanted_objects(spec, "fields"))
    return metadata.get("last-partition-id") is not None and all("field-id" in field for field in fields)


def _partition_ids(metadata: Metadata) -> Metadata:
    specs = [{**spec, "fields": _numbered(spec["fields"])} for spec in metadata["partition-specs"]]
    given = [wanted(field, "field-id", int) for spec in specs for field in spec["fields"]]
    last = metadata.get("last-partition-id") or PARTITION_FIELD_ID_BEFORE_FIRST
    return {"partition-specs": specs, "last-partition-id": max([last, *given])}


def _numbered(fields: list[Json]) -> list[Json]:
    """Each spec numbers its own fields."""
    return [
        {"field-id": PARTITION_FIELD_ID_BEFORE_FIRST + number, **field} for number, field in enumerate(fields, start=1)
    ]


def _orders(metadata: Metadata) -> Metadata:
    unsorted = {"order-id": UNSORTED_ORDER_ID, "fields": []}
    return {"sort-orders": [unsorted], "default-sort-order-id": UNSORTED_ORDER_ID}


_MADE_UP = {"refs": _refs, "schemas": _schemas, "partition-specs": _specs, "sort-orders": _orders}
