"""Shows the columns of rows as a reader wants them, whatever layout the rows were written under.

    layout of the rows (of a file, or of today) -> the reader's columns, by the keys that they have in the schema

The two may differ by renamed columns, by columns and fields that only one of them has, and by wider numbers. Columns
that the rows lack are null. A reader's engine need not know every kind: a uuid and a fixed value are shown as bytes, a
time as microseconds since midnight.
"""

from collections.abc import Sequence

import pyarrow as pa

from lakestream.contract.columns.arrow import arrow_type
from lakestream.contract.columns.column import Column, find
from lakestream.contract.columns.kinds import LIST, MAP, STRUCT, TIME, UUID, fixed_size


class UnfitColumn(ValueError):
    """Rows have values in a column that the reader's column cannot hold."""


def shown_type(column: Column) -> pa.DataType:
    if column.kind == STRUCT:
        return pa.struct([pa.field(child.name, shown_type(child)) for child in column.children])
    if column.kind == LIST:
        return pa.list_(pa.field("element", shown_type(column.children[0])))
    if column.kind == MAP:
        key, value = column.children
        return pa.map_(pa.field("key", shown_type(key), nullable=False), pa.field("value", shown_type(value)))
    if column.kind == TIME:
        return pa.int64()
    if column.kind == UUID or fixed_size(column.kind):
        return pa.binary()
    return arrow_type(column)


def counterpart(column: Column, among: Sequence[Column]) -> Column | None:
    """The column of other rows that is the same: the one with its key, or with a key that it had before."""
    return next((found for key in column.keys if (found := find(among, key)) is not None), None)


def shown(array: pa.Array, given: Column, wanted: Column) -> pa.Array:
    """A whole array (no slice of one) under the reader's column. Raises UnfitColumn."""
    if given == wanted and array.type == shown_type(wanted):
        return array
    try:
        return _shown(array, given, wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise UnfitColumn(
            f"column '{wanted.name}' was {wanted.kind} when the query began and is {given.kind} now: {error}. "
            "Start the query again"
        ) from error


def _shown(array: pa.Array, given: Column, wanted: Column) -> pa.Array:
    kind = shown_type(wanted)
    if {given.kind, wanted.kind} & {STRUCT, LIST, MAP} and given.kind != wanted.kind:
        raise pa.ArrowInvalid(f"{given.kind} is no {wanted.kind}")
    if wanted.kind == STRUCT:
        parts = [_part(array, given, child) for child in wanted.children]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=array.is_null())
    if wanted.kind == LIST:
        inner = _shown(array.values, given.children[0], wanted.children[0])
        return pa.ListArray.from_arrays(array.offsets, inner, type=kind, mask=array.is_null())
    if wanted.kind == MAP:
        key = _shown(array.keys, given.children[0], wanted.children[0])
        value = _shown(array.items, given.children[1], wanted.children[1])
        return pa.MapArray.from_arrays(array.offsets, key, value, type=kind, mask=array.is_null())
    return array if array.type == kind else array.cast(kind)


def _part(array: pa.StructArray, given: Column, wanted: Column) -> pa.Array:
    found = counterpart(wanted, given.children)
    if found is None:
        return pa.nulls(len(array), shown_type(wanted))
    return _shown(array.field(found.name), found, wanted)
