"""Columns that a JSON Schema wants: one for each property of its object.

    integer long · number double · boolean boolean · string string · all else, and mixtures, JSON text

Properties of allOf count as the schema's own, as do those of every branch of anyOf and oneOf, and `null` beside a type
says nothing, since every column may be null. Dates, times and uuids stay strings, as they are written.
"""

from collections.abc import Iterator

from lakestream.contract.columns.json_text import wanted_json_text
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LONG, STRING
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.json_schema.document import JsonSchema, Place
from lakestream.contract.registry.json_schema.keywords import all_of, choices_of, followed, keywords_of, types_of

_KINDS = {
    frozenset(("integer",)): LONG,
    frozenset(("number",)): DOUBLE,
    frozenset(("integer", "number")): DOUBLE,
    frozenset(("boolean",)): BOOLEAN,
    frozenset(("string",)): STRING,
}
_ANYTHING = frozenset(("null", "boolean", "object", "array", "number", "string"))


def wanted_columns(schema: JsonSchema) -> tuple[Wanted, ...]:
    found: dict[str, list[Place]] = {}
    for place in _parts(schema.root):
        for key, property in keywords_of(place).get("properties", {}).items():
            found.setdefault(key, []).append(place.inner(property))
    return tuple(_wanted(key, places) for key, places in found.items())


def _wanted(key: str, places: list[Place]) -> Wanted:
    """A property that several parts describe is of all the types that any of them allows."""
    types = frozenset(one for place in places for one in _types(place))
    doc = next(iter(filter(None, map(_doc, places))), "")
    kind = _KINDS.get(types - {"null"})
    return wanted_json_text(key, doc) if kind is None else Wanted(key=key, kind=kind, doc=doc)


def _types(place: Place) -> frozenset[str]:
    """What a value may be, or anything where that is not plain to see."""
    place = followed(place)
    if place.schema is False:
        return frozenset()
    keywords = keywords_of(place)
    if {"type", "enum", "const"} & keywords.keys():
        return types_of(keywords)
    if choices := choices_of(place):
        return frozenset(one for choice in choices for one in _types(choice))
    allowed = [_types(part) for part in all_of(place)]
    return frozenset.intersection(*allowed) if allowed else _ANYTHING


def _parts(root: Place) -> Iterator[Place]:
    """The schema and all that describe the same object. Each but once: a schema may refer to itself."""
    waiting, seen = [root], set[int]()
    while waiting:
        place = followed(waiting.pop(0))
        if id(place.schema) in seen:
            continue
        seen.add(id(place.schema))
        yield place
        waiting += all_of(place)
        for key in ("anyOf", "oneOf"):
            waiting += [place.inner(branch) for branch in keywords_of(place).get(key, ())]


def _doc(place: Place) -> str:
    described = keywords_of(place).get("description") or keywords_of(followed(place)).get("description")
    return described if isinstance(described, str) else ""
