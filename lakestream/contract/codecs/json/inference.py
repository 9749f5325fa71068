"""Infers columns for keys that no column has yet, in a table without a schema.

    decoded.unknown -> wanted_from_unknown -> layout.merged -> a new codec, which decodes the same rows again

`unknown` describes all rows of a decode: whole numbers and others in one field make a double, other mixtures JSON text.
A column never changes its type: Iceberg does not turn a long into a double, nor text into a struct. So decode many rows
before making the first columns. A later value that does not fit is null in its column, and its row keeps its bytes. A
table that has reached its maximum of columns gets one more, for all members without a column.
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
"""Including nested columns."""
KEY_BYTES_MAX = 1_000
"""A longer key is data, not a name."""


def grown_by_unknown(unknown: Mapping[str, Found], layout: Layout) -> Layout:
    """The layout with columns for these keys, as many as the table may have. Raises CannotFollow."""
    grown = layout.merged(wanted_from_unknown(unknown, layout))
    left_out = any(grown.column(key) is None and _is_name(key) for key in unknown)
    return with_rest(grown) if left_out else grown


def wanted_from_unknown(
    unknown: Mapping[str, Found], layout: Layout, columns_max: int = COLUMNS_MAX
) -> tuple[Wanted, ...]:
    """Columns for the keys, in the order of the mapping, which is that of the rows, up to `columns_max` in the
    table."""
    taken = sum(1 for column in layout.columns if column.id != REST_ID for _ in column.walk())
    return _Room(columns_max - taken).wanted(unknown, layout.columns)


def joined_found(one: Found, other: Found) -> Found:
    """A type that holds the values of one key in two decodes."""
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
    """The number of columns that may still be added."""

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
        """The fields that a struct, or the structs of a list, does not have yet."""
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
