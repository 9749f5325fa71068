"""Checks that readers can read a schema: every field complete, every type known to the specification.

A reader that cannot read a schema cannot load the table, so it could not remove the schema either.
"""

import re
from collections.abc import Iterator
from typing import Any

from lakestream.catalog.spec.default_values import DEFAULTS, check_default
from lakestream.catalog.spec.values import INT_MAX, Json, optional, shown, wanted, wanted_ids, wanted_objects
from lakestream.model.table_errors import InvalidTableChange

_PRIMITIVE = re.compile(
    r"boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary"
    r"|unknown|variant|fixed\[[0-9]{1,9}\]|decimal\([0-9]{1,9},\s*[0-9]{1,9}\)"
    r"|geometry(\(\s*[^()\s][^()]*\))?"
    r"|geography(\(\s*[^(),\s][^(),]*(,\s*(?i:spherical|vincenty|thomas|andoyer|karney)\s*)?\))?"
)
"""In the spelling that every reader understands: not all accept other spaces, or capitals."""
_DECIMAL = re.compile(r"decimal\(([0-9]+),\s*([0-9]+)\)")
_DIGITS_MAX = 38
_UNKNOWN = "unknown"
_NEVER_IDENTIFIERS = ("float", "double", "variant")


def check_shape(schema: Json) -> None:
    """Raises InvalidTableChange."""
    if schema.get("type") != "struct":
        raise InvalidTableChange(f"a schema has the type 'struct', not {shown(schema.get('type'))}")
    _check_struct(schema)
    _check_identifiers(schema)


def _check_struct(struct: Json) -> None:
    for field in wanted_objects(struct, "fields"):
        wanted(field, "name", str)
        optional(field, "doc", str)
        _check_field(field, "id", "required", field.get("type"))
        for default in DEFAULTS:
            if default in field:
                check_default(field[default], field["type"])


def _check_field(field: Json, id: str, required: str | None, type: Any) -> None:
    if not 0 <= wanted(field, id, int) <= INT_MAX:
        raise InvalidTableChange(f"'{id}' must be between 0 and {INT_MAX}, not {field[id]}")
    is_required = wanted(field, required, bool) if required is not None else True
    if is_required and type == _UNKNOWN:
        raise InvalidTableChange(f"nothing of type {_UNKNOWN} can be required: its values are all null")
    _check_type(type)


def _check_type(type: Any) -> None:
    match type:
        case {"type": "struct"}:
            _check_struct(type)
        case {"type": "list"}:
            _check_field(type, "element-id", "element-required", type.get("element"))
        case {"type": "map"}:
            _check_field(type, "key-id", None, type.get("key"))
            _check_field(type, "value-id", "value-required", type.get("value"))
        case str() if _PRIMITIVE.fullmatch(type):
            _check_digits(type)
        case _:
            raise InvalidTableChange(f"{shown(type)} is no type of a column")


def _check_digits(type: str) -> None:
    if (found := _DECIMAL.match(type)) is not None and not (int(found[2]) <= int(found[1]) <= _DIGITS_MAX):
        raise InvalidTableChange(f"{type} is no type of a column: decimals have up to {_DIGITS_MAX} digits")


def _check_identifiers(schema: Json) -> None:
    """Identifier fields must be single values that every row has and that equal themselves, which floats need not."""
    if "identifier-field-ids" not in schema:
        return
    possible = set(_required_values(schema))
    for id in wanted_ids(schema, "identifier-field-ids"):
        if id not in possible:
            raise InvalidTableChange(
                f"{id} cannot be among identifier-field-ids: these are required columns, neither nested in lists, maps "
                "or optional structs, nor of type float, double or variant"
            )


def _required_values(struct: Json) -> Iterator[int]:
    for field in struct["fields"]:
        match field:
            case {"required": True, "type": {"type": "struct"} as inner}:
                yield from _required_values(inner)
            case {"required": True, "type": str(type)} if type not in _NEVER_IDENTIFIERS:
                yield field["id"]
