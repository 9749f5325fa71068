"""Columns from the schema of an Iceberg table: those that CREATE TABLE declares for a topic.

    {"id": 1, "name": "sku", "type": "string"}   ->   Column(keys=("sku",), name="sku", id=1, kind="string")

A field keeps its id, since engines may write files under it before the table is created. Fields that a topic's column
cannot be are refused with the reason.
"""

from collections.abc import Collection, Sequence
from typing import Any

from lakestream.contract.columns.column import Column
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
from lakestream.contract.columns.layout import NODES_MAX, CannotFollow
from lakestream.contract.columns.naming import column_name

Json = dict[str, Any]

ID_MAX = 1_999_999_999
"""Ids above it are reserved for system columns."""
ENGINES_IDS = range(2_000_001_000, 2_147_483_447)
"""Ids of columns that engines add to a table. Iceberg keeps those above for itself."""
DEPTH_MAX = 32
_PRIMITIVES = frozenset((BOOLEAN, INT, LONG, FLOAT, DOUBLE, DATE, TIMESTAMP, TIMESTAMPTZ, STRING, UUID, BINARY))
"""Not `time`: Spark cannot load a table that has such a column."""
_DEFAULTS = ("initial-default", "write-default")


def columns_of(fields: Sequence[Json]) -> tuple[Column, ...]:
    """Raises CannotFollow, which names the column and the reason."""
    columns = _columns(fields, "", DEPTH_MAX)
    if not columns:
        raise CannotFollow(
            "the table has no columns, and a topic made by CREATE TABLE has those of its table: name some"
        )
    if sum(1 for column in columns for _ in column.walk()) > NODES_MAX:
        raise CannotFollow(f"the table has more than {NODES_MAX:,} columns and parts: use fewer")
    return columns


def _columns(fields: Sequence[Json], path: str, depth: int) -> tuple[Column, ...]:
    found: list[Column] = []
    for field in fields:
        found.append(column_of(field, path, {one.name.lower() for one in found}, depth))
    return tuple(found)


def column_of(field: Json, path: str = "", taken: Collection[str] = (), depth: int = DEPTH_MAX) -> Column:
    """`taken`: names of its siblings, in lower case. Raises CannotFollow."""
    name = field["name"]
    place = f"{path}{name}"
    if column_name(name, taken) != name:
        raise CannotFollow(
            f"column '{place}' cannot have this name in a topic: use letters, digits and _, do not begin with '__', "
            "and let names differ in more than case"
        )
    if field.get("required"):
        raise CannotFollow(
            f"column '{place}' is NOT NULL, and a topic cannot promise that: any record may lack a field. Leave out "
            "NOT NULL"
        )
    if any(field.get(default) is not None for default in _DEFAULTS):
        raise CannotFollow(f"column '{place}' has a default, and records without a value have null: leave it out")
    return _part(field["id"], name, field["type"], place, depth, doc=field.get("doc") or "")


def _part(id: int, name: str, type: Any, place: str, depth: int, doc: str = "") -> Column:
    """A column, or an element, key or value of one."""
    if not 0 < id <= ID_MAX and id not in ENGINES_IDS:
        raise CannotFollow(f"column '{place}' has the field id {id}: columns of a topic have ids from 1 to {ID_MAX}")
    if depth == 0:
        raise CannotFollow(f"column '{place}' is nested more than {DEPTH_MAX} deep: use flatter types")
    kind, children = _shape(type, place, depth - 1)
    return Column(keys=(name,), name=name, id=id, kind=kind, children=children, doc=doc)


def _shape(type: Any, place: str, depth: int) -> tuple[str, tuple[Column, ...]]:
    match type:
        case {"type": "struct", "fields": fields}:
            if not fields:
                raise CannotFollow(f"column '{place}' is a struct without fields: give it some")
            return STRUCT, _columns(fields, f"{place}.", depth)
        case {"type": "list", "element-id": id, "element": element}:
            return LIST, (_part(id, "element", element, f"{place}.element", depth),)
        case {"type": "map", "key-id": key_id, "key": key, "value-id": value_id, "value": value}:
            of_key = _part(key_id, "key", key, f"{place}.key", depth)
            return MAP, (of_key, _part(value_id, "value", value, f"{place}.value", depth))
        case str():
            kind = type.replace(" ", "")
            if kind in _PRIMITIVES or decimal_digits(kind) or fixed_size(kind):
                return kind, ()
    shown = type.get("type") if isinstance(type, dict) else type
    raise CannotFollow(f"column '{place}' is of type {shown}, which no format of values can carry: use another type")
