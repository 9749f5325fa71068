"""Columns for keys that no column has yet: what a table without a schema gets next.

    decoded.unknown -> wanted_from_unknown -> layout.merged -> a new codec, by which the same rows are decoded again

`unknown` is a picture of all rows of a decode: whole numbers and others in one field make a double, mixtures JSON text.
What a column is, it stays: Iceberg does not turn a long into a double, nor text into a struct. Decode many rows before
the first columns are made, therefore; a value that comes later and does not fit is null there, and its row keeps its
bytes. Where a table has all the columns that it may have, it gets one more for the members that have none.
"""

from collections.abc import Mapping, Sequence

from lakestream.contract.codecs.codec import Found
from lakestream.contract.codecs.json.unknown import STRUCT_KEYS_MAX
from lakestream.contract.columns.column import Column, find
from lakestream.contract.columns.json_text import JSON_TEXT, wanted_json_text
from lakestream.contract.columns.kinds import DOUBLE, LIST, LONG, STRUCT
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.rest import with_rest
from lakestream.contract.columns.wanted import Wanted
from lakestream.model.rest_column import REST_ID

COLUMNS_MAX = 500
"""With those inside of others."""
KEY_BYTES_MAX = 1_000
"""A key beyond this is data, not a name."""


def grown_by_unknown(unknown: Mapping[str, Found], layout: Layout) -> Layout:
    """With columns for these keys, as many as the table may have. Raises CannotFollow."""
    grown = layout.merged(wanted_from_unknown(unknown, layout))
    left_out = any(grown.column(key) is None and _is_name(key) for key in unknown)
    return with_rest(grown) if left_out else grown


def wanted_from_unknown(
    unknown: Mapping[str, Found], layout: Layout, columns_max: int = COLUMNS_MAX
) -> tuple[Wanted, ...]:
    """In the order of the mapping, which is that of the rows, until the table has `columns_max` columns."""
    taken = sum(1 for column in layout.columns if column.id != REST_ID for _ in column.walk())
    return _Room(columns_max - taken).wanted(unknown, layout.columns)


def joined_found(one: Found, other: Found) -> Found:
    """Of one key in two decodes: what would hold the values of both."""
    if one == other:
        return one
    match one, other:
        case dict(), dict():
            return one | {key: joined_found(one.get(key, found), found) for key, found in other.items()}
        case [element], [others]:
            joined = joined_found(element, others)
            return JSON_TEXT if joined == JSON_TEXT else [joined]
        case str(), str() if {one, other} == {LONG, DOUBLE}:
            return DOUBLE
    return JSON_TEXT


def _is_name(key: str) -> bool:
    return len(key.encode()) <= KEY_BYTES_MAX


class _Room:
    """How many columns there may still be."""

    def __init__(self, left: int) -> None:
        self._left = left

    def wanted(self, unknown: Mapping[str, Found], present: Sequence[Column]) -> tuple[Wanted, ...]:
        found = (self._one(key, value, find(present, key)) for key, value in unknown.items() if _is_name(key))
        return tuple(one for one in found if one is not None)

    def _one(self, key: str, found: Found, column: Column | None) -> Wanted | None:
        if column is not None:
            return self._more_of(column, found)
        wanted = _wanted(key, found)
        if _size(wanted) > self._left:
            wanted = wanted_json_text(key)
        if self._left <= 0:
            return None
        self._left -= _size(wanted)
        return wanted

    def _more_of(self, column: Column, found: Found) -> Wanted | None:
        """What a struct does not have yet, or the structs of a list."""
        if column.kind == LIST and isinstance(found, list):
            element = self._more_of(column.children[0], found[0])
            return None if element is None else Wanted(key=column.keys[0], kind=LIST, children=(element,))
        if column.kind != STRUCT or not isinstance(found, dict) or len(column.children) >= STRUCT_KEYS_MAX:
            return None
        room = _Room(min(self._left, STRUCT_KEYS_MAX - len(column.children)))
        before = room._left
        inside = room.wanted(found, column.children)
        self._left -= before - room._left
        return Wanted(key=column.keys[0], kind=STRUCT, children=inside) if inside else None


def _wanted(key: str, found: Found) -> Wanted:
    match found:
        case dict():
            inside = tuple(_wanted(one, value) for one, value in found.items() if _is_name(one))
            regular = 0 < len(inside) <= STRUCT_KEYS_MAX
            return Wanted(key=key, kind=STRUCT, children=inside) if regular else wanted_json_text(key)
        case [element]:
            inner = _wanted("element", element)
            return wanted_json_text(key) if inner.doc else Wanted(key=key, kind=LIST, children=(inner,))
        case str() if found != JSON_TEXT:
            return Wanted(key=key, kind=found)
    return wanted_json_text(key)


def _size(wanted: Wanted) -> int:
    return 1 + sum(map(_size, wanted.children))
