"""Full names of columns: a nested column's name starts with its parent's, with a dot between.

    s struct<x>, l list<struct<y>>, m map<string, int>  ->  s  s.x  l  l.element  l.element.y  m  m.key  m.value

Iceberg's own library finds columns by these names, and does not load a table that has one of them twice.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from lakestream.catalog.spec.values import Json, wanted, wanted_objects
from lakestream.model.table_errors import InvalidTableChange


class _Named(NamedTuple):
    full: str
    short: str
    """Without the words for parts of lists and maps: `l.y`, which readers understand too."""
    id: int


def check_names(schema: Json) -> None:
    """Raises InvalidTableChange if two columns have the same full name."""
    seen = set()
    for one in _named(schema):
        if one.full in seen:
            raise InvalidTableChange(
                f"the schema has two columns '{one.full}': names are used once, those of nested columns with dots"
            )
        seen.add(one.full)


def ids_by_name(schema: Json) -> dict[str, int]:
    """Every name under which a reader finds a column."""
    found = list(_named(schema))
    return {one.short: one.id for one in found} | {one.full: one.id for one in found}


def _named(struct: Json, full: str = "", short: str = "") -> Iterator[_Named]:
    for field in wanted_objects(struct, "fields"):
        name = wanted(field, "name", str)
        yield _Named(full + name, short + name, wanted(field, "id", int))
        yield from _inside(field.get("type"), full + name, short + name)


def _inside(type: Any, full: str, short: str) -> Iterator[_Named]:
    match type:
        case {"type": "struct"}:
            yield from _named(type, f"{full}.", f"{short}.")
        case {"type": "list"}:
            yield from _part(type, "element", full, short)
        case {"type": "map"}:
            yield from _part(type, "key", full, short)
            yield from _part(type, "value", full, short)


def _part(type: Json, word: str, full: str, short: str) -> Iterator[_Named]:
    part = type.get(word)
    yield _Named(f"{full}.{word}", f"{short}.{word}", wanted(type, f"{word}-id", int))
    is_struct = isinstance(part, dict) and part.get("type") == "struct"
    yield from _inside(part, f"{full}.{word}", short if is_struct else f"{short}.{word}")
