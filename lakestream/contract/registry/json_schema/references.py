"""Follows every reference once when a schema is parsed: each must lead to a schema, and none only back to itself."""

from collections.abc import Iterator

from lakestream.contract.registry.json_schema.document import SchemaPlace
from lakestream.contract.registry.limits import NODES_MAX
from lakestream.model.registry_errors import InvalidSchema, SchemaTooLarge

_LISTS = ("allOf", "anyOf", "oneOf")
_SINGLE = ("not", "if", "then", "else")


def must_resolve(root: SchemaPlace) -> None:
    """Raises InvalidSchema, SchemaTooLarge."""
    waiting, seen = [root], dict[int, SchemaPlace]()
    while waiting:
        place = waiting.pop()
        if id(place.schema) in seen or not isinstance(place.schema, dict):
            continue
        seen[id(place.schema)] = place
        if len(seen) > NODES_MAX:
            raise SchemaTooLarge(f"the schema, with what it refers to, has more than {NODES_MAX} subschemas: split it")
        waiting += _referred(place)
        waiting += [place.inner(inner) for inner in place.draft.subresources_of(place.schema)]
    _must_go_deeper(list(seen.values()))


def _must_go_deeper(places: list[SchemaPlace]) -> None:
    """A schema may contain itself below a property or an item, but not stand for itself: no value could satisfy it."""
    settled: set[int] = set()
    for start in places:
        open: dict[int, Iterator[SchemaPlace]] = {}
        stack = [start]
        while stack:
            place = stack[-1]
            key = id(place.schema)
            if key not in open and key not in settled:
                open[key] = _beside(place)
            following = next(open[key], None) if key in open else None
            if following is None:
                open.pop(key, None)
                settled.add(key)
                stack.pop()
            elif id(following.schema) in open:
                raise InvalidSchema("a schema refers to itself without going deeper: no value could satisfy it")
            elif id(following.schema) not in settled:
                stack.append(following)


def _beside(place: SchemaPlace) -> Iterator[SchemaPlace]:
    """The schemas for the same value: all that it must satisfy, or of which it must satisfy one."""
    schema = place.schema
    if not isinstance(schema, dict):
        return
    yield from _referred(place)
    for key in _LISTS:
        yield from (place.inner(one) for one in schema.get(key, ()))
    for key in _SINGLE:
        if key in schema:
            yield place.inner(schema[key])


def _referred(place: SchemaPlace) -> list[SchemaPlace]:
    reference = place.schema.get("$ref") if isinstance(place.schema, dict) else None
    return [place.referred(reference)] if isinstance(reference, str) else []
