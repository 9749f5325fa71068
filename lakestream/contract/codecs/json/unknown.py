"""Keys that no column has, as a decode found them, and the columns that they would need.

    {"id": "long", "address": {"city": "string"}, "tags": ["string"], "items": [{"sku": "string"}], "odd": "json"}

An object whose keys are regular is described by its keys: it could be a struct. An object whose keys are data (a map
from ids, say) is JSON text, as is one that never had a key. An array is described by its elements, if they are all of
one simple kind, or all regular objects; every other array is JSON text.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.kinds import DONE, TOP
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.columns.json_text import JSON_TEXT
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LONG, STRING

TOLD_MAX = 1_000
"""More columns than a table may get."""
STRUCT_KEYS_MAX = 100
"""An object with more keys is JSON text."""
KEYS_SELDOM = 16
"""An object with more keys than this is irregular if it has, on average, less than a quarter of them."""
_SELDOM_PART = 4

_KINDS = {
    kinds.IS_LONG: LONG,
    kinds.IS_DOUBLE: DOUBLE,
    kinds.IS_LONG | kinds.IS_DOUBLE: DOUBLE,
    kinds.IS_BOOLEAN: BOOLEAN,
    kinds.IS_STRING: STRING,
}
"""Every other mixture is JSON text."""


class UnknownKey(NamedTuple):
    key: str
    context: int
    """The struct in which the key was found, or TOP, or another unknown key, in the kernels' numbering."""
    kinds: int
    """The kinds of its values, as bits; 0: always null."""
    times: int
    """The number of rows that have it."""


Objects = Callable[[int], Found]
"""Finds the type of the objects in the arrays of the key with this number."""


def found_in(keys: Sequence[UnknownKey], slots: Sequence[Slot], objects: Objects) -> dict[str, Found]:
    """The types by key, from the outermost object on. A struct that has a column shows only its unknown keys."""
    telling = _Telling(keys, objects)
    found: dict[str, Found] = {}
    for context in telling.contexts_with_columns():
        inside = found
        for key in path_of(context, slots):
            inside = inside.setdefault(key, {})  # type: ignore[assignment]  # only structs lead here
        inside |= telling.found(context)
    return {key: value for key, value in found.items() if value != {}}


def found_objects(keys: Sequence[UnknownKey], times: int, objects: Objects) -> Found:
    """The type of so many objects that have these keys; JSON text if they are irregular."""
    telling = _Telling(keys, objects)
    return telling.found(TOP) if telling.is_regular(TOP, times) else JSON_TEXT


def with_unknown(found: dict[str, Found], path: Sequence[str], objects: dict[str, Found]) -> dict[str, Found]:
    """`found`, and the unknown keys of the objects of a list that has a column, at the end of `path`."""
    if not objects:
        return found
    key, *inner = path
    if not inner:
        return {**found, key: [objects]}
    inside = found.get(key, {})
    assert isinstance(inside, dict), "only structs are around a list"
    return {**found, key: with_unknown(inside, inner, objects)}


def path_of(context: int, slots: Sequence[Slot]) -> list[str]:
    """The keys that lead from the top to this struct."""
    path: list[str] = []
    while context != TOP:
        path.append(slots[context].column.keys[0])
        context = slots[context].parent
    return path[::-1]


class _Telling:
    def __init__(self, keys: Sequence[UnknownKey], objects: Objects) -> None:
        self._keys = keys
        self._objects = objects
        self._inside: dict[int, list[int]] = {}
        for number, one in enumerate(keys):
            if one.kinds:
                self._inside.setdefault(one.context, []).append(number)

    def contexts_with_columns(self) -> Iterator[int]:
        yield from (context for context in self._inside if context >= TOP)

    def found(self, context: int) -> dict[str, Found]:
        return {self._keys[number].key: self._found(number) for number in self._inside[context][:TOLD_MAX]}

    def _found(self, number: int) -> Found:
        found = self._keys[number].kinds
        if found in _KINDS:
            return _KINDS[found]
        if found == kinds.IS_OBJECT:
            context = DONE - 1 - number
            return self.found(context) if self.is_regular(context, self._keys[number].times) else JSON_TEXT
        if found & ((1 << kinds.ELEMENTS) - 1) == kinds.IS_ARRAY:
            element = self._element(number, found >> kinds.ELEMENTS)
            return JSON_TEXT if element == JSON_TEXT else [element]
        return JSON_TEXT

    def _element(self, number: int, found: int) -> Found:
        return self._objects(number) if found == kinds.IS_OBJECT else _KINDS.get(found, JSON_TEXT)

    def is_regular(self, context: int, times: int) -> bool:
        """Whether objects with these keys are regular. `times` is the number of such objects."""
        inside = self._inside.get(context, ())
        if not inside or len(inside) > STRUCT_KEYS_MAX:
            return False
        present = sum(self._keys[key].times for key in inside)
        return len(inside) <= KEYS_SELDOM or _SELDOM_PART * present >= len(inside) * times
