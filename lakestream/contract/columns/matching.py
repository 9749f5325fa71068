"""Matches the fields of a schema to columns, by the current and former keys of both."""

from collections.abc import Sequence

from lakestream.contract.columns.column import Column, find

Keys = tuple[str, ...]
"""A field's key, then its former ones."""


def matched(columns: Sequence[Column], fields: Sequence[Keys]) -> list[Column | None]:
    """For each field its column, or None. No column is assigned twice.

    A column belongs to the field that has its present key. Otherwise the first field that matches it by a former
    key gets it.
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
