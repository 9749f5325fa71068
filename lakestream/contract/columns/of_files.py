"""The columns of a contract in a file that another engine wrote: found by field id, in whatever order and type.

A column that the file lacks is null. Parts of structs, lists and maps are found in the same way.
"""

from collections.abc import Iterable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from lakestream.contract.columns.arrow import FIELD_ID, arrow_schema, arrow_type
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT

_NESTED = {
    STRUCT: (pa.types.is_struct,),
    LIST: (pa.types.is_list, pa.types.is_large_list),
    MAP: (pa.types.is_map,),
}
_UNITS = ("ms", "us")
_SAME = {
    pa.string(): (pa.string(), pa.large_string()),
    pa.binary(): (pa.binary(), pa.large_binary()),
}


def columns_in(columns: Sequence[Column], rows: pa.RecordBatch) -> pa.RecordBatch:
    """Raises ValueError if a column is there in a type that cannot be read as its own."""
    found = {id: array for field, array in zip(rows.schema, rows.columns, strict=True) if (id := field_id(field))}
    arrays = [_read(column, found.get(column.id), rows.num_rows) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(columns))


def field_id(field: pa.Field) -> int | None:
    text = (field.metadata or {}).get(FIELD_ID)
    return None if text is None else int(text)


def lacks_ids(fields: Iterable[pa.Field]) -> bool:
    """Whether some column of a file, or a part of one, has no field id."""
    return any(field_id(field) is None or lacks_ids(_parts(field.type)) for field in fields)


def unreadable_column(columns: Sequence[Column], fields: Iterable[pa.Field], path: str = "") -> str | None:
    """A sentence about a column that a file holds in a type which cannot be read as the column's; None if all can."""
    by_id = {field_id(field): field.type for field in fields}
    for column in columns:
        if column.id in by_id and (problem := _unreadable(column, by_id[column.id], f"{path}{column.name}")):
            return problem
    return None


def _unreadable(column: Column, kind: pa.DataType, place: str) -> str | None:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    nested = _NESTED.get(column.kind)
    if nested is not None and any(fits(kind) for fits in nested):
        if column.kind == STRUCT:
            return unreadable_column(column.children, _parts(kind), f"{place}.")
        # Elements, keys and values are found by their place, whatever ids they have.
        found = zip(column.children, _parts(kind), strict=True)
        return next(
            (it for child, part in found if (it := _unreadable(child, part.type, f"{place}.{child.name}"))), None
        )
    if pa.types.is_null(kind) or (nested is None and _is_read_as(kind, arrow_type(column))):
        return None
    return f"its column '{place}', field id {column.id}, is {kind} in the file, and {column.kind} in the table"


def _is_read_as(kind: pa.DataType, wanted: pa.DataType) -> bool:
    """Iceberg's promotions, and the same type in another width of Arrow's or unit of time."""
    if pa.types.is_decimal(wanted):
        found = pa.types.is_decimal(kind) and kind.scale == wanted.scale and kind.precision <= wanted.precision
    elif pa.types.is_timestamp(wanted):
        found = pa.types.is_timestamp(kind) and kind.unit in _UNITS and (kind.tz is None) == (wanted.tz is None)
    elif pa.types.is_signed_integer(wanted):
        found = pa.types.is_signed_integer(kind) and kind.bit_width <= wanted.bit_width
    elif pa.types.is_floating(wanted):
        found = pa.types.is_floating(kind) and kind.bit_width <= wanted.bit_width
    else:
        found = kind in _SAME.get(wanted, (wanted,))
    return bool(found)


def _parts(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return [kind.value_field]
    return []


def _read(column: Column, array: pa.Array | None, rows: int) -> pa.Array:
    wanted = arrow_type(column)
    if array is None:
        return pa.nulls(rows, wanted)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if column.kind == STRUCT:
        return _struct(column, array, wanted)
    if column.kind == LIST:
        offsets, values = _elements(array)
        elements = _read(column.children[0], values, len(values))
        return pa.ListArray.from_arrays(offsets, elements, type=wanted, mask=array.is_null())
    if column.kind == MAP:
        offsets, pairs = _elements(array.cast(pa.list_(pa.struct([array.type.key_field, array.type.item_field]))))
        key, value = (_read(child, pairs.field(at), len(pairs)) for at, child in enumerate(column.children))
        return pa.MapArray.from_arrays(offsets, key, value, type=wanted, mask=array.is_null())
    return array if array.type == wanted else array.cast(wanted)


def _struct(column: Column, array: pa.StructArray, wanted: pa.StructType) -> pa.Array:
    at = {field_id(field): number for number, field in enumerate(array.type)}
    children = [
        _read(child, pc.struct_field(array, [at[child.id]]) if child.id in at else None, len(array))
        for child in column.children
    ]
    return pa.StructArray.from_arrays(children, fields=list(wanted), mask=array.is_null())


def _elements(array: pa.Array) -> tuple[pa.Int32Array, pa.Array]:
    """(offsets from 0, and the elements of the array's own rows)"""
    lengths = pc.fill_null(pc.list_value_length(array), 0)
    ends = pc.cumulative_sum(lengths).cast(pa.int32())
    return pa.concat_arrays([pa.array([0], pa.int32()), ends]), array.flatten()
