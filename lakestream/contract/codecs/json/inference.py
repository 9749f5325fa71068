"""Columns for keys that no column has yet: what a table without a schema gets next.

    decoded.unknown -> wanted_from_unknown -> layout.merged -> a new codec, by which the same rows are decoded again

`unknown` is a picture of all rows of a decode: whole numbers and others in one field make a double, mixtures JSON text.
What a column is, it stays: Iceberg does not turn a long into a double. Decode many rows before the first columns are
made, therefore; a value that comes later and does not fit is null there, and its row keeps its bytes.
"""

from collections.abc import Mapping

from lakestream.contract.columns.json_text import JSON_TEXT, wanted_json_text
from lakestream.contract.columns.kinds import DOUBLE, LONG
from lakestream.contract.columns.layout import Layout
from lakestream.contract.columns.wanted import Wanted

COLUMNS_MAX = 500
KEY_BYTES_MAX = 1_000
"""A key beyond this is data, not a name."""


def wanted_from_unknown(
    unknown: Mapping[str, str], layout: Layout, columns_max: int = COLUMNS_MAX
) -> tuple[Wanted, ...]:
    """In the order of the mapping, which is that of the rows, until the table has `columns_max` columns."""
    room = max(columns_max - len(layout.columns), 0)
    keys = [key for key in unknown if layout.column(key) is None and len(key.encode()) <= KEY_BYTES_MAX]
    return tuple(_wanted(key, unknown[key]) for key in keys[:room])


def joined_kind(one: str, other: str) -> str:
    """Of one key in two decodes: what would hold the values of both."""
    if one == other:
        return one
    return DOUBLE if {one, other} == {LONG, DOUBLE} else JSON_TEXT


def _wanted(key: str, kind: str) -> Wanted:
    return wanted_json_text(key) if kind == JSON_TEXT else Wanted(key=key, kind=kind)
