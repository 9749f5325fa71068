"""Checks that partition and sort fields fit the table's columns, which they derive from and share names with.

Iceberg's own library binds every spec and the default order to the current schema whenever it loads a table. One that
does not fit would lock it out of the table.
"""

from lakestream.catalog.spec.schema.ids import fields_by_id, ids_of_one_value
from lakestream.catalog.spec.schema.names import ids_by_name
from lakestream.catalog.spec.transforms import VOID, check_sort_transform, check_transform
from lakestream.catalog.spec.values import Json, Metadata, by_id, shown, wanted, wanted_int, wanted_objects
from lakestream.model.table_errors import InvalidTableChange

_NO_SCHEMA: Json = {"type": "struct", "fields": []}


def source_id(field: Json) -> int:
    """The source column of a partition or sort field. Raises InvalidTableChange."""
    if "source-ids" in field and field["source-ids"] != [field.get("source-id")]:
        raise InvalidTableChange(
            f"{shown(field['source-ids'])} cannot be 'source-ids', which few readers know: leave them out, "
            "and name the one column in 'source-id'"
        )
    return wanted_int(field, "source-id")


def check_partition_sources(fields: list[Json], schemas: list[Json]) -> None:
    """Raises InvalidTableChange if a partition field cannot derive from a column of these schemas."""
    columns = _columns(schemas)
    of_one_value = {id for schema in schemas for id in ids_of_one_value(schema)}
    for field in fields:
        column, transform = _column(field, columns, "partition spec"), wanted(field, "transform", str)
        if transform == VOID:
            continue
        check_transform(transform, column["type"])
        if column["id"] not in of_one_value:
            raise InvalidTableChange(
                f"no partition field can be made from column {column['id']}, which is in a list or a map: "
                "choose one of which each row has one value"
            )


def check_sort_sources(fields: list[Json], schemas: list[Json]) -> None:
    """The same for sort fields."""
    columns = _columns(schemas)
    for field in fields:
        column = _column(field, columns, "sort order")
        check_sort_transform(wanted(field, "transform", str), column["type"])


def check_compatible(metadata: Metadata) -> None:
    """Check that a whole table's spec and order fit its current schema. Raises InvalidTableChange."""
    schema = by_id(metadata.get("schemas") or [], "schema-id", metadata.get("current-schema-id", 0)) or _NO_SCHEMA
    specs, orders = metadata.get("partition-specs") or [], metadata.get("sort-orders") or []
    spec = by_id(specs, "spec-id", metadata.get("default-spec-id", 0)) or {"fields": []}
    order = by_id(orders, "order-id", metadata.get("default-sort-order-id", 0)) or {"fields": []}
    # A field of version 1 that is no longer wanted becomes void, and its column may be dropped.
    kept = [field for field in wanted_objects(spec, "fields") if field.get("transform") != VOID]
    check_partition_sources(kept, [schema])
    check_sort_sources(wanted_objects(order, "fields"), [schema])
    columns, names = _columns([schema]), ids_by_name(schema)
    for field in (field for one in specs for field in wanted_objects(one, "fields")):
        _check_earlier(field, columns)
        _check_name(field, names)


def _check_earlier(field: Json, columns: dict[int, Json]) -> None:
    """The columns of former specs may be gone."""
    if (column := columns.get(source_id(field))) is not None:
        check_transform(wanted(field, "transform", str), column["type"])


def _check_name(field: Json, names: dict[str, int]) -> None:
    name = wanted(field, "name", str)
    if names.get(name, source_id(field)) != source_id(field):
        raise InvalidTableChange(
            f"the partition field '{name}' has the name of a column from which it is not made: rename one of them"
        )


def _columns(schemas: list[Json]) -> dict[int, Json]:
    return {id: field for schema in schemas for id, field in fields_by_id(schema).items()}


def _column(field: Json, columns: dict[int, Json], what: str) -> Json:
    if (column := columns.get(source_id(field))) is None:
        raise InvalidTableChange(
            f"the {what} needs column {source_id(field)}, which the schema has not: add it, or change the {what} first"
        )
    return column
