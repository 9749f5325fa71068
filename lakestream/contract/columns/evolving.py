"""A table's schema follows its layout: columns that are new, wider, renamed, described or have new parts. What others
did stays.

    fields of the table  +  layout as recorded, layout now  ->  fields

A column that someone dropped stays dropped, one that someone renamed or described keeps that, until the contract itself
says something else of it. Columns of others are not touched. New ones stand after the contract's, before the system's.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.iceberg import iceberg_field
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.naming import column_name
from lakestream.model.rest_column import REST_ID

Json = dict[str, Any]


def evolved_fields(fields: Sequence[Json], before: Layout, after: Layout) -> list[Json]:
    old = {column.id: column for column in before.all_columns}
    grown = {column.id: column for column in after.all_columns}
    kept = [_grown(field, old.get(field["id"]), grown.get(field["id"])) for field in fields]
    taken = {field["name"].lower() for field in kept}
    new = []
    for column in after.all_columns:
        if column.id not in old and column.id not in {field["id"] for field in kept}:
            name = column.name if column.id == REST_ID else column_name(column.name, taken)
            taken.add(name.lower())
            new.append(iceberg_field(column) | {"name": name})
    at = _after_own(kept, grown)
    return [*kept[:at], *new, *kept[at:]]


def _grown(field: Json, before: Column | None, after: Column | None) -> Json:
    """The field as the layout has it now; as it is, where the layout has not changed or knows nothing of it."""
    if before is None or after is None or before == after:
        return field
    wanted = iceberg_field(after)
    named = {"name": wanted["name"]} if before.name != after.name else {}
    described = {"doc": wanted["doc"]} if before.doc != after.doc else {}
    return {**field, "type": wanted["type"]} | named | described


def _after_own(fields: Sequence[Json], own: Mapping[int, Column]) -> int:
    places = [at for at, field in enumerate(fields) if field["id"] in own]
    return places[-1] + 1 if places else 0
