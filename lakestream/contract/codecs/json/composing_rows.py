"""JSON objects from columns: the values of rows that were never JSON before, such as those of an INSERT.

id 1, sku null, tags ["x"]   ->   {"id":1,"sku":null,"tags":["x"]}

Every column is a member, in the order of the table. Each column becomes a column of texts, which are joined row by row.
"""

import json
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import BOOLEAN, DOUBLE, INT, LIST, LONG, STRING, STRUCT

_NULL = "null"
_ESCAPED = '[\\x00-\\x1f"\\\\]'
_WHOLE = r"^(-?\d+)$"
_NOT_FINITE = ("nan", "-nan", "inf", "-inf")
_CONTROLS = {chr(code): json.dumps(chr(code))[1:-1] for code in range(32)}


def composed_objects(columns: Sequence[Column], rows: pa.RecordBatch) -> pa.BinaryArray:
    """The rows as JSON. `rows` has the columns in their order, with the types of `arrow_schema`."""
    return _object(columns, rows.columns, rows.num_rows).cast(pa.binary())


def _object(columns: Sequence[Column], arrays: Sequence[pa.Array], rows: int) -> pa.StringArray:
    parts: list[pa.Array | pa.Scalar] = []
    for at, (column, array) in enumerate(zip(columns, arrays, strict=True)):
        parts += (
            pa.scalar(f"{',' if at else '{'}{json.dumps(column.keys[0], ensure_ascii=False)}:"),
            _text(column, array),
        )
    # A column of its own for the first text gives the number of rows even if there is no column.
    return pc.binary_join_element_wise(pa.repeat("", rows), *parts, pa.scalar("}"), "")


def _text(column: Column, array: pa.Array) -> pa.StringArray:
    """The JSON of each value; null values are the text null."""
    return pc.fill_null(_text_or_null(column, array), _NULL)


def _text_or_null(column: Column, array: pa.Array) -> pa.StringArray:
    match column.kind:
        case kind if kind in (BOOLEAN, INT, LONG):
            return array.cast(pa.string())
        case kind if kind == DOUBLE:
            return _number(array.cast(pa.string()))
        case kind if kind == STRING:
            return pc.binary_join_element_wise(pa.scalar('"'), _escaped(array), pa.scalar('"'), "")
        case kind if kind == STRUCT:
            fields = [pc.struct_field(array, [at]) for at in range(array.type.num_fields)]
            text = _object(column.children, fields, len(array))
            return pc.if_else(array.is_valid(), text, pa.scalar(None, pa.string()))
        case kind if kind == LIST:
            return _list(column.children[0], array)
    raise ValueError(f"column '{column.name}' is {column.kind}, which JSON has no form for")


def _number(text: pa.StringArray) -> pa.StringArray:
    """Whole numbers keep a fraction, so that readers see a double. JSON has no word for what is no number."""
    finite = pc.invert(pc.is_in(text, value_set=pa.array(_NOT_FINITE)))
    return pc.if_else(finite, pc.replace_substring_regex(text, _WHOLE, r"\1.0"), pa.scalar(None, pa.string()))


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    if not pc.any(pc.match_substring_regex(texts, _ESCAPED)).as_py():
        return texts
    found = pc.replace_substring(pc.replace_substring(texts, "\\", "\\\\"), '"', '\\"')
    for character, escape in _CONTROLS.items():
        if pc.any(pc.match_substring(found, character)).as_py():
            found = pc.replace_substring(found, character, escape)
    return found


def _list(element: Column, array: pa.ListArray) -> pa.StringArray:
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    ends = pc.cumulative_sum(lengths).cast(pa.int32())
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    texts = pa.ListArray.from_arrays(offsets, _text(element, array.flatten()))
    joined = pc.binary_join_element_wise(pa.scalar("["), pc.binary_join(texts, ","), pa.scalar("]"), "")
    return pc.if_else(array.is_valid(), joined, pa.scalar(None, pa.string()))
