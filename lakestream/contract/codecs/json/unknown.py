"""Keys that no column has, as a decode met them, and what columns they would need.

    {"id": "long", "address": {"city": "string"}, "tags": ["string"], "odd": "json"}

An object whose keys are regular is told by its keys: it could be a struct. One whose keys are data (a map from ids,
say) is JSON text, as is one that never had a key, and an array whose elements are not all of one simple kind.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json import kernels
from lakestream.contract.codecs.json.kernels import DONE, TOP
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.columns.json_text import JSON_TEXT
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, LONG, STRING

TOLD_MAX = 1_000
"""More than a table may get of columns."""
STRUCT_KEYS_MAX = 100
"""An object with more is told as text."""
KEYS_SELDOM = 16
"""From so many keys on, an object that has less than a quarter of them at a time is irregular."""
_SELDOM_PART = 4

_KINDS = {
    kernels.IS_LONG: LONG,
    kernels.IS_DOUBLE: DOUBLE,
    kernels.IS_LONG | kernels.IS_DOUBLE: DOUBLE,
    kernels.IS_BOOLEAN: BOOLEAN,
    kernels.IS_STRING: STRING,
}
"""Every other mixture is JSON text."""


class UnknownKey(NamedTuple):
    key: str
    context: int
    """The struct that it was found in, or TOP, or another unknown key, as the kernels say it."""
    kinds: int
    """Of its values, as bits; 0: always null."""
    times: int
    """In how many rows."""


def found_in(keys: Sequence[UnknownKey], slots: Sequence[Slot]) -> dict[str, Found]:
    """From the outermost object on. Those inside a struct stand beside nothing that has a column already."""
    telling = _Telling(keys)
    found: dict[str, Found] = {}
    for context in telling.contexts_with_columns():
        inside = found
        for key in _path(context, slots):
            inside = inside.setdefault(key, {})  # type: ignore[assignment]  # only structs lead here
        inside |= telling.found(context)
    return {key: value for key, value in found.items() if value != {}}


def _path(context: int, slots: Sequence[Slot]) -> list[str]:
    """The keys of the structs that lead to this one."""
    path: list[str] = []
    while context != TOP:
        path.append(slots[context].column.keys[0])
        context = slots[context].parent
    return path[::-1]


class _Telling:
    def __init__(self, keys: Sequence[UnknownKey]) -> None:
        self._keys = keys
        self._inside: dict[int, list[int]] = {}
        for number, one in enumerate(keys):
            if one.kinds:
                self._inside.setdefault(one.context, []).append(number)

    def contexts_with_columns(self) -> Iterator[int]:
        yield from (context for context in self._inside if context >= TOP)

    def found(self, context: int) -> dict[str, Found]:
        return {self._keys[number].key: self._found(number) for number in self._inside[context][:TOLD_MAX]}

    def _found(self, number: int) -> Found:
        kinds = self._keys[number].kinds
        if kinds in _KINDS:
            return _KINDS[kinds]
        if kinds == kernels.IS_OBJECT:
            context = DONE - 1 - number
            return self.found(context) if self._is_regular(number, self._inside.get(context, ())) else JSON_TEXT
        if kinds & ((1 << kernels.ELEMENTS) - 1) == kernels.IS_ARRAY:
            element = _KINDS.get(kinds >> kernels.ELEMENTS)
            return JSON_TEXT if element is None else [element]
        return JSON_TEXT

    def _is_regular(self, number: int, inside: Sequence[int]) -> bool:
        if not inside or len(inside) > STRUCT_KEYS_MAX:
            return False
        present = sum(self._keys[key].times for key in inside)
        return len(inside) <= KEYS_SELDOM or _SELDOM_PART * present >= len(inside) * self._keys[number].times
