"""The column `__rest`: one JSON object for each row, of those members of its value that have no column of their own.

Only a table whose columns are inferred has one, once it has as many as it may have. It is a column of the system, with
an id of its own; it stands in the layout since the codec fills it.
"""

from dataclasses import replace

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.layout import Layout
from lakestream.model.rest_column import REST_ID, REST_NAME

_NO_KEY = "\ud800rest"
"""What no JSON object has as a key: half a surrogate pair."""
_COLUMN = Column(
    keys=(_NO_KEY,), name=REST_NAME, id=REST_ID, kind=STRING, doc="JSON object of all members that have no column"
)


def with_rest(layout: Layout) -> Layout:
    if any(column.id == REST_ID for column in layout.columns):
        return layout
    return replace(layout, columns=(*layout.columns, _COLUMN))
