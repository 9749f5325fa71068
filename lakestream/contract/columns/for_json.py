"""Which columns JSON values can fill: booleans, whole numbers, doubles, texts, objects and arrays of them."""

from collections.abc import Sequence

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import holds_json_text
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, STRUCT
from lakestream.contract.columns.layout import CannotFollow

_SCALARS = frozenset((BOOLEAN, INT, LONG, DOUBLE, STRING))
_ELEMENTS = frozenset((BOOLEAN, LONG, DOUBLE, STRING, STRUCT))


def check_json_columns(columns: Sequence[Column], path: str = "") -> None:
    """Raises CannotFollow for a column that no JSON value can fill exactly."""
    for column in columns:
        place = f"{path}{column.name}"
        if column.kind == STRUCT:
            check_json_columns(column.children, f"{place}.")
        elif column.kind == LIST:
            _check_element(column.children[0], place)
        elif column.kind not in _SCALARS:
            raise CannotFollow(
                f"column '{place}' is {column.kind}, which JSON has no form for: use boolean, int, bigint, double, "
                "string, struct or array, or create the table with 'lakestream.value.format'='avro'"
            )
        elif holds_json_text(column):
            raise CannotFollow(f"column '{place}' has the comment of a column of JSON text: use another comment")


def _check_element(element: Column, place: str) -> None:
    if element.kind not in _ELEMENTS:
        raise CannotFollow(
            f"column '{place}' is an array of {element.kind}, which is not read from JSON: use an array of boolean, "
            "bigint, double, string or struct, or create the table with 'lakestream.value.format'='avro'"
        )
    if element.kind == STRUCT:
        check_json_columns(element.children, f"{place}.")
