"""The columns that a JSON Schema wants: one for each property of its object.

    integer long · number double · boolean boolean · string string
    object with properties struct · array of such, or of one of the four, list · all else, and mixtures, JSON text

Properties of allOf count as the schema's own, as do those of every branch of anyOf and oneOf. A `null` next to a type
changes nothing, since every column is nullable. Dates, times and uuids stay strings, as they are written. An object
that contains itself is JSON text inside itself, as are objects that are too deep or too many.
"""

from collections.abc import Iterator, Sequence

from lakestream.contract.columns.json_text import wanted_json_text
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LIST, LONG, STRING, STRUCT
from lakestream.contract.columns.wanted import Wanted
from lakestream.contract.registry.json_schema.document import JsonSchema, SchemaPlace
from lakestream.contract.registry.json_schema.keywords import (
    all_of,
    choices_of,
    followed,
    items_of,
    keywords_of,
    types_of,
)

DEPTH_MAX = 8
"""Levels of structs."""
PARTS_MAX = 1_000
"""Columns with all their parts; beyond this, objects become text: a small schema may unfold to billions."""
_KINDS = {
    frozenset(("integer",)): LONG,
    frozenset(("number",)): DOUBLE,
    frozenset(("integer", "number")): DOUBLE,
    frozenset(("boolean",)): BOOLEAN,
    frozenset(("string",)): STRING,
}
_ELEMENT = "element"
_OBJECT, _ARRAY, _NULL = frozenset(("object",)), frozenset(("array",)), frozenset(("null",))
_ANYTHING = frozenset(("null", "boolean", "object", "array", "number", "string"))


def wanted_columns(schema: JsonSchema) -> tuple[Wanted, ...]:
    properties, around = _properties([schema.root])
    return _Unfolding(PARTS_MAX - len(properties)).columns(properties, around)


_Properties = dict[str, list[SchemaPlace]]


class _Unfolding:
    """Unfolds a schema from the outermost object inwards, as far as the limit allows."""

    def __init__(self, room: int) -> None:
        self._room = room

    def columns(self, properties: _Properties, around: frozenset[int]) -> tuple[Wanted, ...]:
        """`around`: the schemas of the objects that hold these properties."""
        return tuple(self._wanted(key, places, around, 1) for key, places in properties.items())

    def _wanted(self, key: str, places: Sequence[SchemaPlace], around: frozenset[int], depth: int) -> Wanted:
        """The column of a property. If several parts describe it, it may have any type that one of them allows."""
        types = frozenset(one for place in places for one in _types(place)) - _NULL
        doc = next(iter(filter(None, map(_doc, places))), "")
        if types in _KINDS:
            return Wanted(key=key, kind=_KINDS[types], doc=doc)
        if types == _OBJECT:
            return self._object(key, places, around, depth, doc)
        if types == _ARRAY:
            return self._array(key, places, around, depth, doc)
        return wanted_json_text(key, doc)

    def _array(self, key: str, places: Sequence[SchemaPlace], around: frozenset[int], depth: int, doc: str) -> Wanted:
        items = _items(places)
        element = None if items is None or not self._has_room_for(1) else self._element(items, around, depth)
        if element is None:
            return wanted_json_text(key, doc, as_it_is=True)
        return Wanted(key=key, kind=LIST, children=(element,), doc=doc, as_it_is=True)

    def _element(self, items: SchemaPlace, around: frozenset[int], depth: int) -> Wanted | None:
        """The column of a list's elements; None if a list cannot have such."""
        types = _types(items) - _NULL
        if types != _OBJECT:
            return Wanted(key=_ELEMENT, kind=_KINDS[types]) if types in _KINDS else None
        element = self._object(_ELEMENT, [items], around, depth + 1, "")
        return element if element.kind == STRUCT else None

    def _object(self, key: str, places: Sequence[SchemaPlace], around: frozenset[int], depth: int, doc: str) -> Wanted:
        properties, own = _properties(places)
        if not properties or own & around or depth > DEPTH_MAX or not self._has_room_for(len(properties)):
            return wanted_json_text(key, doc, as_it_is=True)
        inside = tuple(self._wanted(one, parts, around | own, depth + 1) for one, parts in properties.items())
        return Wanted(key=key, kind=STRUCT, children=inside, doc=doc, as_it_is=True)

    def _has_room_for(self, parts: int) -> bool:
        if parts > self._room:
            return False
        self._room -= parts
        return True


def _properties(places: Sequence[SchemaPlace]) -> tuple[_Properties, frozenset[int]]:
    """The descriptions of an object's properties, and the schemas that contain them."""
    found: _Properties = {}
    schemas = set[int]()
    for place in places:
        for part in _parts(place):
            properties = keywords_of(part).get("properties", {})
            if properties:
                schemas.add(id(part.schema))
            for key, property in properties.items():
                found.setdefault(key, []).append(part.inner(property))
    return found, frozenset(schemas)


def _items(places: Sequence[SchemaPlace]) -> SchemaPlace | None:
    """The schema of all elements of an array, if a single one describes them."""
    items = [(part, items_of(keywords_of(part))) for place in places for part in _parts(place)]
    told = [(part, one) for part, one in items if one.first or one.rest is not True]
    if len(told) != 1:
        return None
    part, (first, rest) = told[0]
    return None if first else part.inner(rest)


def _types(place: SchemaPlace) -> frozenset[str]:
    """The types that a value may have; all types if the schema does not state them plainly."""
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


def _parts(root: SchemaPlace) -> Iterator[SchemaPlace]:
    """The schema and all schemas that describe the same object, each once: a schema may refer to itself."""
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


def _doc(place: SchemaPlace) -> str:
    described = keywords_of(place).get("description") or keywords_of(followed(place)).get("description")
    return described if isinstance(described, str) else ""
