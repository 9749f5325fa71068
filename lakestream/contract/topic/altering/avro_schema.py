"""Edits an Avro schema as ALTER TABLE changed the columns: the next version that is registered.

    added     a field ["null", type], null by default            dropped      no field any more, its name is noted
    renamed   the new name, the former one among the aliases     widened      int to long, float to double, more digits
    comment   doc                                                reordered    fields in the order of the table

Everything else in the schema stays: other fields, names of types, defaults, enums. A type that is defined elsewhere, or
used in two places, is not edited, since that would change other columns as well.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, NESTED, STRUCT, decimal_digits
from lakestream.contract.columns.layout import CannotFollow
from lakestream.contract.columns.to_avro import PRIMITIVES, avro_field, check_avro_name

Json = dict[str, Any]

DROPPED = "lakestream.dropped"
"""An attribute of a record: the names of the fields that were dropped. With it, the schema is a new version even if an
earlier one had the same fields."""


def with_names_as_keys(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns, with keys for those that have none yet."""
    return tuple(
        replace(one, keys=one.keys or (one.name,), children=with_names_as_keys(one.children)) for one in columns
    )


def altered_avro(text: str, before: Sequence[Column], after: Sequence[Column]) -> str:
    """The text of the schema. Columns of `before` and `after` that are the same have the same id; `after` has keys.
    Raises CannotFollow."""
    schema = json.loads(text)
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise CannotFollow("the schema of the topic's values is no record: register its next version instead")
    _Editing(schema).record(schema, before, after, f"{schema['name'].rpartition('.')[2]}_")
    return json.dumps(schema)


class _Editing:
    def __init__(self, schema: Json) -> None:
        self._names = set(_names(schema))

    def record(self, record: Json, before: Sequence[Column], after: Sequence[Column], prefix: str) -> None:
        """Edit the fields of a record in place."""
        present = {field["name"]: field for field in record["fields"]}
        known = {column.id: column for column in before if not column.is_dropped}
        own = {id: field for id, column in known.items() if (field := _first(column.keys, present)) is not None}
        fields: list[Json] = []
        for column in after:
            if column.is_dropped:
                continue
            if column.id in own:
                fields.append(self._edited(own[column.id], known[column.id], column, prefix))
            elif column.id not in known:
                adopted = present.get(column.keys[0])
                fields.append(self._added(column, prefix) if adopted is None else adopted)
            elif column.children != known[column.id].children:
                raise gone_from_schema(column)
        if gone := [field["name"] for field in own.values() if not any(field is one for one in fields)]:
            record[DROPPED] = [*record.get(DROPPED, ()), *gone]
        taken = [*own.values(), *fields]
        rest = [field for field in record["fields"] if not any(field is one for one in taken)]
        record["fields"] = [*fields, *rest]

    def _added(self, column: Column, prefix: str) -> Json:
        unique = prefix
        while any(name.startswith(f"{unique}{column.name}") for name in self._names):
            unique = f"{unique}_"
        field = avro_field(column, unique)
        self._names |= set(_names(field["type"]))
        return field

    def _edited(self, field: Json, before: Column, after: Column, prefix: str) -> Json:
        if after.keys[0] != before.keys[0]:
            check_avro_name(after.keys[0])
            former = [field["name"], *field.get("aliases", ())]
            field["aliases"] = [name for name in former if name != after.keys[0]]
            field["name"] = after.keys[0]
        if after.doc != before.doc:
            field.pop("doc", None)
            field |= {"doc": after.doc} if after.doc else {}
        field["type"] = self._type(field["type"], before, after, f"{prefix}{after.name}_")
        return field

    def _type(self, type: Any, before: Column, after: Column, prefix: str) -> Any:
        if before.kind == after.kind and before.children == after.children:
            return type
        if isinstance(type, list):
            return self._branch(type, before, after, prefix)
        if after.kind in NESTED:
            return self._nested(type, before, after, prefix)
        digits = decimal_digits(after.kind)
        if digits and isinstance(type, dict) and type.get("logicalType") == "decimal" and type.get("type") == "bytes":
            return {**type, "precision": digits[0]}
        if type in (PRIMITIVES.get(before.kind), {"type": PRIMITIVES.get(before.kind)}):
            return PRIMITIVES[after.kind]
        raise _elsewhere(after)

    def _branch(self, union: list[Any], before: Column, after: Column, prefix: str) -> list[Any]:
        branches = [branch for branch in union if branch != "null"]
        if len(branches) != 1:
            raise _elsewhere(after)
        return [branch if branch == "null" else self._type(branch, before, after, prefix) for branch in union]

    def _nested(self, type: Any, before: Column, after: Column, prefix: str) -> Any:
        kind = type.get("type") if isinstance(type, dict) else None
        if kind == "record" and after.kind == STRUCT:
            self.record(type, before.children, after.children, prefix)
        elif kind == "array" and after.kind == LIST:
            type["items"] = self._type(type["items"], before.children[0], after.children[0], f"{prefix}element_")
        elif kind == "map" and after.kind == MAP:
            type["values"] = self._type(type["values"], before.children[1], after.children[1], f"{prefix}value_")
        else:
            raise _elsewhere(after)
        return type


def _first(keys: Sequence[str], present: dict[str, Json]) -> Json | None:
    """The field of a column, by its present or a former key."""
    return next((present[key] for key in keys if key in present), None)


def _names(type: Any) -> list[str]:
    """The names of all types that are defined in it."""
    match type:
        case list():
            return [name for one in type for name in _names(one)]
        case {"type": "record", "name": name, "fields": fields}:
            return [name, *(inner for field in fields for inner in _names(field["type"]))]
        case {"type": "enum" | "fixed", "name": name}:
            return [name]
        case {"type": "array", "items": inner} | {"type": "map", "values": inner}:
            return _names(inner)
        case {"type": dict() | list() as inner}:
            return _names(inner)
    return []


def gone_from_schema(column: Column) -> CannotFollow:
    return CannotFollow(
        f"the newest schema of the topic's values has no field '{column.name}' any more: register a version that has it"
    )


def _elsewhere(column: Column) -> CannotFollow:
    return CannotFollow(
        f"the schema of the topic's values writes the type of '{column.name}' in a way that ALTER TABLE does not edit: "
        "register the schema's next version, and the table follows"
    )
