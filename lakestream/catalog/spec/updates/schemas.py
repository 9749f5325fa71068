"""Updates of schemas: added under a new id (or found again), made current, removed when unused."""

from typing import Any

from lakestream.catalog.spec.default_values import DEFAULTS
from lakestream.catalog.spec.schema.ids import field_ids, fields_by_id
from lakestream.catalog.spec.schema.names import check_names
from lakestream.catalog.spec.schema.shape import check_shape
from lakestream.catalog.spec.updates.draft import Draft, meant_id, without
from lakestream.catalog.spec.values import Json, by_id, wanted, wanted_ids
from lakestream.model.table_errors import InvalidTableChange

_TYPES_SINCE_V3 = ("timestamp_ns", "timestamptz_ns", "variant", "unknown", "geometry", "geography")


def add_schema(draft: Draft, update: Json) -> None:
    schema = wanted(update, "schema", dict)
    check_schema(schema, draft.format_version)
    same = next((known for known in draft.objects("schemas") if _same(known, schema)), None)
    draft.last_schema_id = same["schema-id"] if same is not None else _append(draft, schema)


def set_current_schema(draft: Draft, update: Json) -> None:
    id = meant_id(wanted(update, "schema-id", int), draft.last_schema_id, "schema")
    schema = by_id(draft.objects("schemas"), "schema-id", id)
    if schema is None:
        raise InvalidTableChange(f"the table has no schema {id}: add it first")
    draft.metadata["current-schema-id"] = id
    if "schema" in draft.metadata:
        draft.metadata["schema"] = schema  # version 1 repeats the current one


def remove_schemas(draft: Draft, update: Json) -> None:
    ids = set(wanted_ids(update, "schema-ids"))
    if draft.metadata.get("current-schema-id") in ids:
        raise InvalidTableChange("the current schema cannot be removed: make another one current first")
    draft.metadata["schemas"] = without(draft.objects("schemas"), "schema-id", ids)


def check_schema(schema: Json, format_version: int) -> None:
    """Raises InvalidTableChange for a schema that readers of this format version could not use."""
    field_ids(schema)
    check_shape(schema)
    check_names(schema)
    if format_version >= 3:
        return
    for field in fields_by_id(schema).values():
        if isinstance(field["type"], str) and field["type"].startswith(_TYPES_SINCE_V3):
            raise InvalidTableChange(
                f"type {field['type']} needs format version 3 and the table has {format_version}: upgrade it first"
            )
        if any(default in field for default in DEFAULTS):
            raise InvalidTableChange(f"default values need format version 3 and the table has {format_version}")


def highest_field_id(schema: Json) -> int:
    return max(field_ids(schema), default=0)


def _append(draft: Draft, schema: Json) -> int:
    schemas = draft.objects("schemas")
    id = max((known["schema-id"] for known in schemas), default=-1) + 1
    draft.metadata["schemas"] = [*schemas, {**schema, "schema-id": id}]
    if "view-uuid" not in draft.metadata:
        draft.metadata["last-column-id"] = max(draft.metadata.get("last-column-id", 0), highest_field_id(schema))
    return id


def _same(one: Json, other: Json) -> bool:
    return _compared(one) == _compared(other)


def _compared(schema: Json) -> tuple[Any, frozenset[int]]:
    return schema["fields"], frozenset(schema.get("identifier-field-ids") or ())
