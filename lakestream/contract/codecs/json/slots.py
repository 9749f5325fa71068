"""Slots: the columns of a layout as the kernels number them; nested columns follow the column that holds them.

    id long                        0
    address struct                 1
        city string                2    parent 1
        zip long                   3    parent 1
    tags list                      4
        element string             5    parent ELEMENT
    items list                     6
        element struct             7    parent ELEMENT; a text here: its fields have slots of their own (objects.py)

Version 1 of the rules knows no nested columns, and version 2 no lists of structs: under these versions such columns are
of a kind that JSON does not fill.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.kernels.kinds import ELEMENT, TOP
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.kinds import BINARY, BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, STRUCT
from lakestream.model.rest_column import REST_ID

_KINDS = {
    BOOLEAN: kinds.BOOLEAN,
    INT: kinds.INT,
    LONG: kinds.LONG,
    DOUBLE: kinds.DOUBLE,
    STRING: kinds.STRING,
}
_ELEMENTS = {kind: _KINDS[kind] for kind in (BOOLEAN, LONG, DOUBLE, STRING)} | {STRUCT: kinds.OBJECT}
_NO_SLOT = -1


class Slot(NamedTuple):
    column: Column
    kind: int
    """The kernels' number of the kind."""
    parent: int
    """The number of the enclosing struct's slot, or TOP, or ELEMENT."""
    depth: int
    path: str
    """The keys that lead to it, for messages."""
    element: int = _NO_SLOT
    """For a list: the number of its element's slot."""


FLAT_VERSION, NESTED_VERSION, OBJECTS_VERSION = 1, 2, 3
"""Versions of the rules: without nested columns, with structs and lists, with lists of structs."""


def slots_of(columns: Sequence[Column], version: int) -> list[Slot]:
    slots: list[Slot] = []
    _append(slots, columns, version, parent=TOP, depth=0, path="")
    return slots


def stored_columns(columns: Sequence[Column], version: int) -> tuple[Column, ...]:
    """The columns, with texts in place of the structs in lists."""
    return tuple(_stored(column, version) for column in columns)


def _stored(column: Column, version: int) -> Column:
    kind = _kind(column, version)
    if kind == kinds.STRUCT:
        return replace(column, children=stored_columns(column.children, version))
    if kind == kinds.LIST and column.children[0].kind == STRUCT:
        return replace(column, children=(replace(column.children[0], kind=BINARY, children=()),))
    return column


def _append(slots: list[Slot], columns: Sequence[Column], version: int, *, parent: int, depth: int, path: str) -> None:
    for column in columns:
        own = len(slots)
        place = f"{path}{column.keys[0]}"
        kind = _kind(column, version)
        slots.append(Slot(column, kind, parent, depth, place, own + 1 if kind == kinds.LIST else _NO_SLOT))
        if kind == kinds.STRUCT:
            _append(slots, column.children, version, parent=own, depth=depth + 1, path=f"{place}.")
        elif kind == kinds.LIST:
            element = column.children[0]
            slots.append(Slot(element, _ELEMENTS[element.kind], ELEMENT, depth, place))


def _kind(column: Column, version: int) -> int:
    if column.id == REST_ID:
        return kinds.REST if version >= NESTED_VERSION else kinds.NOTHING
    if holds_json_text(column):
        return kinds.TEXT
    if version >= NESTED_VERSION and column.kind == STRUCT:
        return kinds.STRUCT
    if column.kind == LIST and version >= _list_version(column):
        return kinds.LIST
    return _KINDS.get(column.kind, kinds.NOTHING)


def _list_version(column: Column) -> float:
    """The first version that fills such lists."""
    element = column.children[0]
    if element.kind == STRUCT:
        return OBJECTS_VERSION
    return NESTED_VERSION if element.kind in _ELEMENTS and not holds_json_text(element) else math.inf
