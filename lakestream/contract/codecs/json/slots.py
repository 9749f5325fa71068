"""Slots: the columns of a layout as the kernels number them, those inside structs and lists after the one they are in.

    id long                        0
    address struct                 1
        city string                2    parent 1
        zip long                   3    parent 1
    tags list                      4
        element string             5    parent ELEMENT

Version 1 of the rules knows nothing that has parts: such columns are then of a kind that JSON does not fill.
"""

from collections.abc import Sequence
from typing import NamedTuple

from lakestream.contract.codecs.json import kernels
from lakestream.contract.codecs.json.kernels import ELEMENT, TOP
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, STRUCT
from lakestream.model.rest_column import REST_ID

_KINDS = {
    BOOLEAN: kernels.BOOLEAN,
    INT: kernels.INT,
    LONG: kernels.LONG,
    DOUBLE: kernels.DOUBLE,
    STRING: kernels.STRING,
}
_ELEMENTS = (BOOLEAN, LONG, DOUBLE, STRING)
_NO_SLOT = -1


class Slot(NamedTuple):
    column: Column
    kind: int
    """The kernels' name for it."""
    parent: int
    """Number of the struct that it is in, or TOP, or ELEMENT."""
    depth: int
    path: str
    """The keys that lead to it, for people."""
    element: int = _NO_SLOT
    """Of a list: the number of its element's slot."""


def slots_of(columns: Sequence[Column], *, nested: bool) -> list[Slot]:
    slots: list[Slot] = []
    _append(slots, columns, nested=nested, parent=TOP, depth=0, path="")
    return slots


def _append(slots: list[Slot], columns: Sequence[Column], *, nested: bool, parent: int, depth: int, path: str) -> None:
    for column in columns:
        own = len(slots)
        place = f"{path}{column.keys[0]}"
        kind = _kind(column, nested=nested)
        slots.append(Slot(column, kind, parent, depth, place, own + 1 if kind == kernels.LIST else _NO_SLOT))
        if kind == kernels.STRUCT:
            _append(slots, column.children, nested=nested, parent=own, depth=depth + 1, path=f"{place}.")
        elif kind == kernels.LIST:
            element = column.children[0]
            slots.append(Slot(element, _KINDS[element.kind], ELEMENT, depth, place))


def _kind(column: Column, *, nested: bool) -> int:
    if column.id == REST_ID:
        return kernels.REST if nested else kernels.NOTHING
    if holds_json_text(column):
        return kernels.TEXT
    if nested and column.kind == STRUCT:
        return kernels.STRUCT
    if nested and column.kind == LIST and column.children[0].kind in _ELEMENTS:
        return kernels.LIST
    return _KINDS.get(column.kind, kernels.NOTHING)
