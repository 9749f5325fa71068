"""The meaning of keywords, with the differences between drafts evened out.

Keywords that no draft knows are annotations, as JSON Schema requires, and never matter.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from referencing.jsonschema import DRAFT4, DRAFT6, DRAFT7

from lakestream.contract.registry.json_schema.document import Schema, SchemaPlace
from lakestream.contract.registry.json_text import written_json

Keywords = Mapping[str, Any]

TYPES = ("null", "boolean", "object", "array", "number", "string")
"""'integer' is a part of 'number'."""

COMBINING = ("allOf", "anyOf", "oneOf", "$ref")
_ANNOTATIONS = frozenset(
    ("$ref", "$schema", "$id", "id", "$comment", "$defs", "definitions", "title", "description", "default", "examples")
)


class Bound(NamedTuple):
    """A limit on numbers. `open`: the value itself is outside."""

    value: Fraction
    open: bool
    text: str = ""
    """As the schema has it."""


class Items(NamedTuple):
    """An array's first items, each with its schema, and the schema of the rest."""

    first: tuple[Schema, ...]
    rest: Schema

    def at(self, index: int) -> Schema:
        return self.first[index] if index < len(self.first) else self.rest


# --- parts -------------------------------------------------------------------------------------


def keywords_of(place: SchemaPlace) -> dict[str, Any]:
    return place.schema if isinstance(place.schema, dict) else {}


def followed(place: SchemaPlace) -> SchemaPlace:
    """The target of a reference that stands alone. Up to draft 7 keywords next to a reference are ignored."""
    while "$ref" in (keywords := keywords_of(place)):
        if place.draft not in (DRAFT4, DRAFT6, DRAFT7) and not keywords.keys() <= _ANNOTATIONS:
            return place
        place = place.referred(keywords["$ref"])
    return place


def all_of(place: SchemaPlace) -> list[SchemaPlace]:
    """The schemas that must hold in addition to the schema's own keywords, including a reference."""
    keywords = keywords_of(place)
    parts = [place.inner(part) for part in keywords.get("allOf", ())]
    return [*parts, place.referred(keywords["$ref"])] if "$ref" in keywords else parts


def choices_of(place: SchemaPlace) -> list[SchemaPlace]:
    """The branches of which one must hold, if it has any."""
    keywords = keywords_of(place)
    for key in ("anyOf", "oneOf"):
        if key in keywords:
            return [place.inner(choice) for choice in keywords[key]]
    return []


def alternatives(place: SchemaPlace) -> list[SchemaPlace]:
    """Schemas that together allow at least everything that this one allows: its branches, or one for each of its
    types."""
    place = followed(place)
    if choices := choices_of(place):
        return choices
    keywords = keywords_of(place)
    types = keywords.get("type")
    if isinstance(types, list) and len(types) > 1:
        return [place.other({**keywords, "type": one}) for one in types]
    return [place]


# --- values ------------------------------------------------------------------------------------


def types_of(schema: Keywords) -> frozenset[str]:
    """The types that may occur, with 'integer' if only whole numbers may."""
    if (values := values_of(schema)) is not None:
        return frozenset(map(type_of, values))
    said = schema.get("type", TYPES)
    found = frozenset([said] if isinstance(said, str) else said)
    return found - {"integer"} if "number" in found else found


def type_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case list():
            return "array"
    return "object"


def values_of(schema: Keywords) -> list[Any] | None:
    """The values it lists, if it lists any."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema["enum"]) if "enum" in schema else None


def value_key(value: Any) -> str:
    """A key that is the same for values that JSON Schema considers equal: 1 and 1.0 are, 1 and true are not."""
    return written_json(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_plain(one) for one in value]
        case dict():
            return {key: _plain(one) for key, one in value.items()}
    return value


# --- what drafts write differently -------------------------------------------------------------


def bound_of(schema: Keywords, inclusive: str, exclusive: str) -> Bound | None:
    """The tighter of 'minimum' and 'exclusiveMinimum'. In draft 4 a `true` makes the former exclusive."""
    closed, open = schema.get(inclusive), schema.get(exclusive)
    if isinstance(open, bool):
        return None if closed is None else _bound(closed, open)
    bounds = [_bound(value, is_open) for value, is_open in ((closed, False), (open, True)) if value is not None]
    if not bounds:
        return None
    sign = 1 if inclusive == "minimum" else -1
    return max(bounds, key=lambda bound: (sign * bound.value, bound.open))


def _bound(value: int | float, is_open: bool) -> Bound:
    return Bound(exact(value), is_open, f"{value!s:.40}{' (exclusive)' if is_open else ''}")


def exact(value: int | float) -> Fraction:
    """0.1 is a tenth, as written."""
    return Fraction(str(value))


def items_of(schema: Keywords) -> Items:
    items = schema.get("items", True)
    if "prefixItems" in schema:
        return Items(tuple(schema["prefixItems"]), items)
    if isinstance(items, list):
        return Items(tuple(items), schema.get("additionalItems", True))
    return Items((), items)


def dependencies_of(schema: Keywords) -> tuple[dict[str, set[str]], dict[str, Schema]]:
    """Properties that require other properties, and properties that require a schema."""
    found = dict(schema.get("dependencies", {}))
    names = {key: set(value) for key, value in found.items() if isinstance(value, list)}
    names |= {key: set(value) for key, value in schema.get("dependentRequired", {}).items()}
    return names, {key: value for key, value in found.items() if not isinstance(value, list)}
