"""Evolves a table's schema with its layout: new, wider, renamed or described columns, and new fields of structs.

    fields of the table  +  layout as recorded, layout now  ->  fields

Changes that other engines made stay. A column that someone dropped stays dropped; one that someone renamed, widened or
described keeps that, until the contract itself changes it. Columns of others are not touched, and their names are not
reused. New columns come after the contract's and before the system's. The same rules hold for the fields of a struct.
"""

from collections.abc import Collection, Sequence
from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.kinds import wider
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.naming import column_name
from lakestream.model.rest_column import REST_ID

Json = dict[str, Any]


def evolved_fields(
    fields: Sequence[Json], before: Layout, after: Layout, *, reserved: Collection[str] = ()
) -> list[Json]:
    """`reserved`: names that neither a new nor a renamed column may have. These are the names of partition fields,
    which share a namespace with columns."""
    return _evolved(fields, before.all_columns, after.all_columns, frozenset(name.lower() for name in reserved))


def _evolved(
    fields: Sequence[Json], before: Sequence[Column], after: Sequence[Column], reserved: frozenset[str] = frozenset()
) -> list[Json]:
    """The fields of the table, or of one struct in it."""
    old = {column.id: column for column in before}
    own = {column.id: column for column in after}
    there = {field["id"] for field in fields}
    taken = {field["name"].lower() for field in fields}
    kept = [_followed(field, old.get(field["id"]), own.get(field["id"]), taken, reserved) for field in fields]
    new = [_named(column, taken, reserved) for column in after if column.id not in old and column.id not in there]
    places = [at for at, field in enumerate(kept) if field["id"] in own]
    at = places[-1] + 1 if places else 0
    return [*kept[:at], *new, *kept[at:]]


def _followed(
    field: Json, before: Column | None, after: Column | None, taken: set[str], reserved: frozenset[str]
) -> Json:
    """The field as the layout has it now; unchanged if the layout has not changed or does not have it."""
    if before is None or after is None or before == after:
        return field
    named = {"name": _new_name(field["name"], after.name, taken, reserved)} if before.name != after.name else {}
    described = {"doc": after.doc} if before.doc != after.doc else {}
    return {**field, "type": _grown(field["type"], before, after)} | named | described


def _new_name(present: str, wanted: str, taken: set[str], reserved: frozenset[str]) -> str:
    taken.discard(present.lower())
    name = column_name(wanted, taken | reserved)
    taken.add(name.lower())
    return name


def _named(column: Column, taken: set[str], reserved: frozenset[str]) -> Json:
    name = column.name if column.id == REST_ID else column_name(column.name, taken | reserved)
    taken.add(name.lower())
    return iceberg_field(column) | {"name": name}


def _grown(type: Any, before: Column, after: Column) -> Any:
    """A column's type, with the contract's additions."""
    match type:
        case {"type": "struct", "fields": fields}:
            return {**type, "fields": _evolved(fields, before.children, after.children)}
        case {"type": "list", "element": element}:
            return {**type, "element": _grown(element, before.children[0], after.children[0])}
        case {"type": "map", "key": key, "value": value}:
            (old_key, old_value), (new_key, new_value) = before.children, after.children
            return {**type, "key": _grown(key, old_key, new_key), "value": _grown(value, old_value, new_value)}
    return type if before.kind == after.kind else wider(type.replace(" ", ""), after.kind) or after.kind
