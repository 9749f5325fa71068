"""Which column is whose: the fields of one schema find their columns by the keys that these ever had."""

from collections.abc import Sequence

from lakestream.contract.columns.column import Column, find

Keys = tuple[str, ...]
"""A field's key, then those it had before."""


def matched(columns: Sequence[Column], fields: Sequence[Keys]) -> list[Column | None]:
    """For each field its column, or None. No column is given to two.

    A column belongs to the field that has its present key. Others may have it by a former key, the first one first.
    """
    present = {keys[0] for keys in fields}
    claimed: set[int] = set()
    found: list[Column | None] = []
    for keys in fields:
        column = _column(columns, keys, present, claimed)
        found.append(column)
        if column is not None:
            claimed.add(column.id)
    return found


def _column(columns: Sequence[Column], keys: Keys, present: set[str], claimed: set[int]) -> Column | None:
    for key in keys:
        column = find(columns, key)
        if column is None or column.id in claimed:
            continue
        if column.keys[0] == keys[0] or column.keys[0] not in present:
            return column
    return None
