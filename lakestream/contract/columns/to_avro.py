"""An Avro schema from columns: the schema that wants exactly these columns of its table (from_avro.py).

id long, address struct<city string>   ->   record of ["null", "long"] and ["null", record of ["null", "string"]]

Every field may be null, as every column may. Nested records and fixed types are named by their place.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.from_avro import FIXED_BYTES_MAX
from lakestream.contract.columns.kinds import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    STRING,
    STRUCT,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    decimal_digits,
    fixed_size,
)
from lakestream.contract.columns.layout import CannotFollow

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
PRIMITIVES: dict[str, Any] = {
    BOOLEAN: "boolean",
    INT: "int",
    LONG: "long",
    FLOAT: "float",
    DOUBLE: "double",
    STRING: "string",
    BINARY: "bytes",
    DATE: {"type": "int", "logicalType": "date"},
    TIMESTAMP: {"type": "long", "logicalType": "local-timestamp-micros"},
    TIMESTAMPTZ: {"type": "long", "logicalType": "timestamp-micros"},
}
_UUID_BYTES = 16


def avro_schema(record: str, columns: Sequence[Column]) -> str:
    """The text of the schema. Raises CannotFollow if Avro has no such name or type."""
    return json.dumps({"type": "record", "name": record, "fields": _fields(columns, f"{record}_")})


def _fields(columns: Sequence[Column], prefix: str) -> list[dict[str, Any]]:
    return [avro_field(column, prefix) for column in columns]


def check_avro_name(name: str) -> None:
    """Raises CannotFollow."""
    if not _NAME.fullmatch(name):
        raise CannotFollow(f"column '{name}' cannot be a field of Avro: use letters, digits and _ in its name")


def avro_field(column: Column, prefix: str) -> dict[str, Any]:
    """`prefix`: of the names of the types that the field brings. Raises CannotFollow."""
    check_avro_name(column.name)
    field = {"name": column.name, "type": _optional(column, f"{prefix}{column.name}"), "default": None}
    return field | ({"doc": column.doc} if column.doc else {})


def _optional(column: Column, place: str) -> list[Any]:
    return ["null", _type(column, place)]


def _type(column: Column, place: str) -> Any:
    if column.kind == STRUCT:
        return {"type": "record", "name": place, "fields": _fields(column.children, f"{place}_")}
    if column.kind == LIST:
        return {"type": "array", "items": _optional(column.children[0], f"{place}_element")}
    if column.kind == MAP:
        key, value = column.children
        if key.kind != STRING:
            raise CannotFollow(f"the keys of '{column.name}' are {key.kind}, and the keys of an Avro map are strings")
        return {"type": "map", "values": _optional(value, f"{place}_value")}
    if digits := decimal_digits(column.kind):
        return {"type": "bytes", "logicalType": "decimal", "precision": digits[0], "scale": digits[1]}
    if column.kind == UUID:
        return {"type": "fixed", "name": place, "size": _UUID_BYTES, "logicalType": "uuid"}
    if size := fixed_size(column.kind):
        if size > FIXED_BYTES_MAX:
            raise CannotFollow(f"column '{column.name}' has more than {FIXED_BYTES_MAX} bytes: make it binary")
        return {"type": "fixed", "name": place, "size": size}
    return PRIMITIVES[column.kind]
