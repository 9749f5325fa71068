"""The column `__rest`: one JSON object for each row, with the members of its value that have no column of their own.

Only a table with inferred columns has one, once it has reached its maximum of columns. It is a system column, with an
id of its own; it is in the layout because the codec fills it.
"""

from dataclasses import replace

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import Layout
from lakestream.model.rest_column import REST_ID, REST_NAME

_NO_KEY = "\ud800rest"
"""A key that no JSON object has: half a surrogate pair."""
_COLUMN = Column(
    keys=(_NO_KEY,), name=REST_NAME, id=REST_ID, kind=STRING, doc="JSON object of all members that have no column"
)


def with_rest(layout: Layout) -> Layout:
    if any(column.id == REST_ID for column in layout.columns):
        return layout
    return replace(layout, columns=(*layout.columns, _COLUMN))
