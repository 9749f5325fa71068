"""An upper bound of how often a JSON Schema may make a validator check one and the same part of a value.

A schema of a few lines may ask for a billion checks: each definition names the next one twice. Checks of different
parts of a value (properties, items) do not add up. Recursion goes as deep as the value does and is counted once,
because validators remember its results.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from lakestream.contract.registry.json_schema.document import SchemaPlace
from lakestream.contract.registry.json_schema.keywords import keywords_of

_CHOICES = ("anyOf", "oneOf")
_SAME_VALUE = ("not", "if", "then", "else")
_SAME_VALUE_BY_NAME = ("dependentSchemas", "dependencies")
_PARTS_APART = ("additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems")
_PARTS_TOGETHER = ("contains", "propertyNames")


class SchemaExtent(NamedTuple):
    looks: int
    """On one path into a value, from the whole to an innermost part: how many subschemas the parts are checked
    against."""
    branches: int
    """How many branches of anyOf and oneOf, nested ones included, one and the same value may be checked against."""


@dataclass(slots=True)
class _Node:
    """A subschema, and how far it has been visited."""

    place: SchemaPlace
    same: list[SchemaPlace]
    """Subschemas for the same value; the target of its reference comes last."""
    apart: list[SchemaPlace]
    """Subschemas for parts of the value, each for different parts."""
    together: list[SchemaPlace]
    """Subschemas that may apply to the same parts."""
    waiting: Iterator[SchemaPlace]
    """Those of all three lists that were not visited yet."""
    is_open: bool = True
    looks: int = 1
    branches: int = 0


def extent_of(root: SchemaPlace) -> SchemaExtent:
    """`root` has been parsed: its references have targets, and no schema stands for itself."""
    if not isinstance(root.schema, dict):
        return SchemaExtent(1, 0)
    nodes = {id(root.schema): _node(root)}
    stack = [nodes[id(root.schema)]]
    while stack:
        node = stack[-1]
        new = next((one for one in node.waiting if id(one.schema) not in nodes), None)
        if new is not None:
            nodes[id(new.schema)] = _node(new)
            stack.append(nodes[id(new.schema)])
        else:
            _count(node, nodes)
            stack.pop()
    return SchemaExtent(nodes[id(root.schema)].looks, max(node.branches for node in nodes.values()))


def _node(place: SchemaPlace) -> _Node:
    keywords = keywords_of(place)
    by_name = [one for key in _SAME_VALUE_BY_NAME for one in keywords.get(key, {}).values()]
    same = _places(place, [*_listed(keywords, "allOf", *_CHOICES), *_single(keywords, _SAME_VALUE), *by_name])
    reference = keywords.get("$ref")
    if isinstance(reference, str) and isinstance((referred := place.referred(reference)).schema, dict):
        same.append(referred)
    properties, patterns = keywords.get("properties", {}), keywords.get("patternProperties", {})
    items = _listed(keywords, "prefixItems", "items")
    apart = _places(place, [*properties.values(), *_single(keywords, _PARTS_APART), *items])
    together = _places(place, [*patterns.values(), *_single(keywords, _PARTS_TOGETHER)])
    return _Node(place, same, apart, together, iter([*same, *apart, *together]))


def _count(node: _Node, nodes: dict[int, _Node]) -> None:
    def looks(places: list[SchemaPlace]) -> Iterator[int]:
        found = (nodes[id(one.schema)] for one in places)
        return (1 if one.is_open else one.looks for one in found)

    node.looks += sum(looks(node.same)) + max(looks(node.apart), default=0) + sum(looks(node.together))
    node.branches = _branches(node, nodes)
    node.is_open = False


def _branches(node: _Node, nodes: dict[int, _Node]) -> int:
    """The branches for the same value. Nested ones were counted before, since no schema stands for itself."""
    keywords = keywords_of(node.place)
    choices = {id(one) for one in _listed(keywords, *_CHOICES)}
    others = [nodes[id(one.schema)].branches for one in node.same if id(one.schema) not in choices]
    counted = [nodes[id(one)].branches if id(one) in nodes else 0 for one in _listed(keywords, *_CHOICES)]
    return sum(others) + sum(max(1, one) for one in counted)


def _places(place: SchemaPlace, schemas: list[Any]) -> list[SchemaPlace]:
    """The schemas that are objects: true and false, and lists of names, cost nothing."""
    return [place.inner(one) for one in schemas if isinstance(one, dict)]


def _listed(keywords: dict[str, Any], *keys: str) -> list[Any]:
    return [one for key in keys if isinstance(keywords.get(key), list) for one in keywords[key]]


def _single(keywords: dict[str, Any], keys: tuple[str, ...]) -> list[Any]:
    return [keywords[key] for key in keys if isinstance(keywords.get(key), dict)]
