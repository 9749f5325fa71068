"""Projects columns from an engine, with today's names and kinds, back to the columns of a file, by field id.

The two may differ by renamed columns, new fields of structs and wider numbers. Engines also have their own types for
some kinds: text for a uuid, bytes of any length for a fixed one.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.contract.columns.arrow import arrow_schema, arrow_type
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT, UUID


def projected(rows: pa.RecordBatch, today: Sequence[Column], wanted: Sequence[Column]) -> pa.RecordBatch:
    """The columns `wanted`. Raises LookupError if `today` lacks one, and ArrowInvalid if values do not fit."""
    by_id = {column.id: column for column in today}
    columns = [_as(rows.column(by_id[column.id].name), by_id[column.id], column) for column in wanted]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(wanted))


def _as(array: pa.Array, today: Column, wanted: Column) -> pa.Array:
    kind = arrow_type(wanted)
    if wanted.kind == STRUCT:
        by_id = {child.id: child for child in today.children}
        parts = [_as(array.field(by_id[one.id].name), by_id[one.id], one) for one in wanted.children]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())
    if wanted.kind == LIST:
        inner = _as(array.values, today.children[0], wanted.children[0])
        return pa.ListArray.from_arrays(array.offsets, inner, type=kind, mask=array.is_null())
    if wanted.kind == MAP:
        key = _as(array.keys, today.children[0], wanted.children[0])
        value = _as(array.items, today.children[1], wanted.children[1])
        whole = pa.MapArray.from_arrays(array.offsets, key, value)
        return pc.if_else(array.is_valid(), whole, pa.scalar(None, whole.type)).cast(kind)
    if wanted.kind == UUID and pa.types.is_string(array.type):
        texts = array.to_pylist()
        return pa.array([None if text is None else bytes.fromhex(text.replace("-", "")) for text in texts], kind)
    return array if array.type == kind else array.cast(kind)
