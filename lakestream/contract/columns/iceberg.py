"""Columns as fields of an Iceberg schema: JSON as in the specification's appendix C. All are optional."""

from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT

Json = dict[str, Any]


def iceberg_field(column: Column) -> Json:
    field: Json = {"id": column.id, "name": column.name, "required": False, "type": iceberg_type(column)}
    return field | ({"doc": column.doc} if column.doc else {})


def iceberg_type(column: Column) -> Json | str:
    if column.kind == STRUCT:
        return {"type": "struct", "fields": [iceberg_field(child) for child in column.children]}
    if column.kind == LIST:
        element = column.children[0]
        return {
            "type": "list",
            "element-id": element.id,
            "element-required": False,
            "element": iceberg_type(element),
        }
    if column.kind == MAP:
        key, value = column.children
        return {
            "type": "map",
            "key-id": key.id,
            "key": iceberg_type(key),
            "value-id": value.id,
            "value-required": False,
            "value": iceberg_type(value),
        }
    return column.kind
