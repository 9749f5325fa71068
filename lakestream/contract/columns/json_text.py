"""JSON text: a string column whose values are JSON of any kind, byte for byte as written, strings in their quotes.

It holds values that have no better column: objects, arrays, and fields whose values are of varying kinds. The column's
doc marks it as JSON text, in the layout and for everyone who looks at the table.
"""

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import STRING
from lakestream.contract.columns.wanted import Wanted

JSON_TEXT = "json"
"""The type in `Decoded.unknown` of a key whose values only such a column could hold."""
_DOC = "JSON text"


def wanted_json_text(key: str, doc: str = "", *, as_it_is: bool = False) -> Wanted:
    return Wanted(key=key, kind=STRING, doc=f"{_DOC}: {doc}" if doc else _DOC, as_it_is=as_it_is)


def holds_json_text(column: Column) -> bool:
    return column.kind == STRING and (column.doc == _DOC or column.doc.startswith(f"{_DOC}: "))
