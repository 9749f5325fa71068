"""Shapes of rows that have arrays of objects: the row's own template, with the templates of the objects inside.

    {"id": 7, "items": [{"sku": "x"}, {"sku": "y"}]}   ->   {"id": <i:1>, "items": <lj:2>{{"sku": <s:4>}}}

All objects of an array must have the same shape, or the row keeps its bytes; an empty array fits any shape. The
template of the objects follows the slot of their list, between bytes of value 2 and 3, which no JSON text contains.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lakestream.contract.codecs.json.template import MARK
from lakestream.contract.codecs.json.tree import SHAPE_BYTES_MAX, SHAPES_MAX

NO_SHAPE = -1
PARTS_MAX = 4 * SHAPES_MAX
"""Combinations of parts that are remembered, including those for which there was no room. Further ones get no shape."""

_BEGINS, _ENDS = "\x02", "\x03"
_SLOT = re.compile(f"{MARK}[^:{MARK}]*:([0-9]+){MARK}")
_EDGE = re.compile(f"[{_BEGINS}{_ENDS}]")


class Composed(NamedTuple):
    own: str
    """The row's own template."""
    objects: Mapping[int, str]
    """Templates of the objects, by the field id of their list."""


def composed(own: str, objects: Mapping[int, str]) -> str:
    """The template of a whole row. Lists that have no slot in this template are left out."""

    def with_objects(slot: re.Match[str]) -> str:
        inner = objects.get(int(slot[1]))
        return slot[0] if inner is None else f"{slot[0]}{_BEGINS}{inner}{_ENDS}"

    return _SLOT.sub(with_objects, own)


def decomposed(template: str) -> Composed:
    """The parts of a template. Raises ValueError."""
    own, objects = "", dict[int, str]()
    depth = start = 0
    for edge in _EDGE.finditer(template):
        if edge[0] == _BEGINS:
            if depth == 0:
                own += template[start : edge.start()]
                start = edge.end()
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                objects[_last_id(own)] = template[start : edge.start()]
                start = edge.end()
        if depth < 0:
            break
    if depth:
        raise ValueError("the shape of a row ends within an array: the file is damaged")
    return Composed(own + template[start:], objects)


def _last_id(own: str) -> int:
    slots = list(_SLOT.finditer(own))
    if not slots or slots[-1].end() != len(own):
        raise ValueError("objects stand where a shape has no array: the file is damaged")
    return int(slots[-1][1])


Parts = tuple[int, ...]
"""The number of a row's own shape, then for each list of structs the number of its objects' shape, or NO_SHAPE."""


class ComposedShapes:
    """The composed shapes found so far, with their numbers; at most as many as a file may have."""

    def __init__(self) -> None:
        self.templates: list[str] = []
        self._parts: list[Parts] = []
        self._by_parts: dict[Parts, int] = {}
        self._by_template: dict[str, int] = {}
        self._bytes = 0

    def append(self, parts: Parts, template: str) -> int:
        """Append a shape and return its number."""
        number = len(self.templates)
        self.templates.append(template)
        self._parts.append(parts)
        self._by_template[template] = number
        self._bytes += len(template.encode())
        return number

    def parts(self, shapes: NDArray[np.int32]) -> list[NDArray[np.int32]]:
        """The parts of each row's shape: one array for each part."""
        return [np.array(part, np.int32)[shapes] for part in zip(*self._parts, strict=True)]

    def _number(self, parts: Parts, template: str) -> int:
        """The number of a shape, or NO_SHAPE if there is no room for it. A list without a slot does not show in the
        template, so different parts may have the same template."""
        known = self._by_template.get(template)
        if known is not None:
            return known
        if len(self.templates) == SHAPES_MAX or self._bytes + len(template.encode()) > SHAPE_BYTES_MAX:
            return NO_SHAPE
        return self.append(parts, template)

    def numbers(self, parts: Sequence[NDArray[np.int32]], template: Callable[[Parts], str]) -> NDArray[np.int32]:
        """The shape numbers of rows with these parts. `template` makes the template of a new shape."""
        first, codes = np.zeros(0, np.int64), np.zeros(len(parts[0]), np.int64)
        for part in parts:
            pairs = codes * (SHAPES_MAX + 1) + part - NO_SHAPE
            _, first, codes = np.unique(pairs, return_index=True, return_inverse=True)
        found: dict[int, int] = {}
        for row in np.sort(first).tolist():
            one = tuple(int(part[row]) for part in parts)
            if one not in self._by_parts and len(self._by_parts) < PARTS_MAX:
                self._by_parts[one] = self._number(one, template(one))
            found[row] = self._by_parts.get(one, NO_SHAPE)
        return np.array([found[row] for row in first.tolist()], np.int32)[codes]
