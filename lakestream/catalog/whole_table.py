"""A table's metadata, whole: what every version of the format has by now, and what a file must have to be taken up.

    version 1 from before there were lists and refs  ->  completed  ->  the same table as readers understand it

Readers make up for what old files have not: the one schema is schema 0, the current snapshot is where main is. A change
made by such a reader takes this for granted, so it is applied to the same.
"""

from lakestream.catalog.updates.identity import FORMAT_VERSIONS, checked_uuid
from lakestream.catalog.updates.layout import PARTITION_FIELD_ID_BEFORE_FIRST, UNSORTED_ORDER_ID
from lakestream.catalog.updates.schemas import check_schema, highest_field_id
from lakestream.catalog.updates.snapshots import NO_SNAPSHOT
from lakestream.catalog.values import Json, Metadata, by_id, wanted, wanted_objects, wanted_texts
from lakestream.model.table import MAIN_BRANCH
from lakestream.model.table_errors import InvalidTableChange


def completed(metadata: Metadata) -> Metadata:
    """The same table with all that a reader would make up for; most tables are whole, and themselves."""
    for name, made in _MADE_UP.items():
        if metadata.get(name) is None:
            metadata = metadata | made(metadata)
    return metadata if _has_partition_ids(metadata) else metadata | _partition_ids(metadata)


def check_whole(metadata: Metadata) -> None:
    """Raises InvalidTableChange for a table that nobody could read, or change."""
    version = wanted(metadata, "format-version", int)
    if version not in FORMAT_VERSIONS:
        raise InvalidTableChange(f"there is no format version {version}: use one of {FORMAT_VERSIONS}")
    checked_uuid(wanted(metadata, "table-uuid", str))
    wanted(metadata, "location", str)
    for name in ("last-updated-ms", "last-column-id"):
        wanted(metadata, name, int)
    if metadata.get("properties") is not None:
        wanted_texts(metadata, "properties")
    check_schema(_chosen(metadata, "schemas", "schema-id", "current-schema-id"), max(FORMAT_VERSIONS))
    _chosen(metadata, "partition-specs", "spec-id", "default-spec-id")
    _chosen(metadata, "sort-orders", "order-id", "default-sort-order-id")
    for name in ("snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics"):
        if metadata.get(name) is not None:
            wanted_objects(metadata, name)
    for snapshot in metadata.get("snapshots") or ():
        wanted(snapshot, "snapshot-id", int)


def _chosen(metadata: Metadata, list_name: str, id_name: str, chosen_name: str) -> Json:
    found = by_id(wanted_objects(metadata, list_name), id_name, wanted(metadata, chosen_name, int))
    if found is None:
        raise InvalidTableChange(f"'{chosen_name}' of the table is none of its {list_name}: add it, and set it")
    return found


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
    """Fields of version 1 may have none."""
    fields = (field for spec in wanted_objects(metadata, "partition-specs") for field in wanted_objects(spec, "fields"))
    return metadata.get("last-partition-id") is not None and all("field-id" in field for field in fields)


def _partition_ids(metadata: Metadata) -> Metadata:
    specs = [{**spec, "fields": _numbered(spec["fields"])} for spec in metadata["partition-specs"]]
    given = [wanted(field, "field-id", int) for spec in specs for field in spec["fields"]]
    last = metadata.get("last-partition-id") or PARTITION_FIELD_ID_BEFORE_FIRST
    return {"partition-specs": specs, "last-partition-id": max([last, *given])}


def _numbered(fields: list[Json]) -> list[Json]:
    """Each spec counts its own fields."""
    return [
        {"field-id": PARTITION_FIELD_ID_BEFORE_FIRST + number, **field} for number, field in enumerate(fields, start=1)
    ]


def _orders(metadata: Metadata) -> Metadata:
    unsorted = {"order-id": UNSORTED_ORDER_ID, "fields": []}
    return {"sort-orders": [unsorted], "default-sort-order-id": UNSORTED_ORDER_ID}


_MADE_UP = {"refs": _refs, "schemas": _schemas, "partition-specs": _specs, "sort-orders": _orders}
