"""Lists of structs: a codec of their own decodes the objects of all arrays of a column as rows.

    items ['{"sku": "A"}', '{"sku": "B"}']   <->   items [{sku A}, {sku B}]

The columns give a row back exactly if they do so for all its objects, and all objects have the same shape. That shape
is then a part of the row's shape.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, Found, ValueCodec
from lakestream.contract.codecs.json.composing import NO_SHAPE
from lakestream.contract.codecs.json.inputs import elements_of
from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.slots import Slot
from lakestream.contract.codecs.json.unknown import path_of

_ANY_SHAPE, _MANY_SHAPES = -2, -3
_TRIES = 4
"""How many decodes are repeated. A codec learns styles as it goes (whether 2 is written as 2 or 2.0), and before it has
seen enough, objects of one array may seem to differ."""


class ObjectsDecoded(NamedTuple):
    lists: pa.ListArray
    shapes: NDArray[np.int32]
    """The shape of each row's objects. NO_SHAPE: the row has no objects, and no row before had any."""
    exact: NDArray[np.bool_]
    errors: Errors
    unknown: dict[str, Found]
    """Keys of the objects without a column."""


class ObjectList:
    def __init__(self, number: int, slots: Sequence[Slot], codec: ValueCodec, schema: pa.Schema) -> None:
        """`codec` is for the objects; `schema` has their fields."""
        self.slot = number
        self.column_id = slots[number].column.id
        self.key = slots[number].column.keys[0]
        self.path = path_of(slots[number].parent, slots)
        """Keys of the structs around the list."""
        self.codec = codec
        self._schema = schema
        self._usual = NO_SHAPE
        """The shape that arrays without objects are given, so that they make no shapes of their own."""
        self._tries = _TRIES

    def reading(self, shapes: Sequence[str]) -> "ObjectList":
        """A copy that knows only these shapes of objects."""
        reader = copy(self)
        reader.codec = copy(self.codec)
        reader.codec.shapes = list(shapes)
        return reader

    def shape_number(self, shape: str | None) -> int:
        return NO_SHAPE if shape is None else self.codec.shapes.index(shape)

    def decode(self, texts: pa.ListArray, type: pa.ListType) -> ObjectsDecoded:
        """Decode `texts`, which must come straight from the kernels: its values have no elements outside its rows."""
        elements = texts.values
        is_null = elements.is_null().to_numpy(zero_copy_only=False)
        present = np.flatnonzero(~is_null)
        objects = elements if len(present) == len(elements) else elements.take(pa.array(present))
        offsets = texts.offsets.to_numpy()
        rows = np.repeat(np.arange(len(texts)), np.diff(offsets))[present]
        decoded = self.codec.decode(objects)
        exact, shapes = self._by_row(decoded, rows, len(texts))
        if self._tries and not exact.all():
            self._tries -= 1
            decoded = self.codec.decode(objects)
            exact, shapes = self._by_row(decoded, rows, len(texts))
        return ObjectsDecoded(
            lists=pa.ListArray.from_arrays(
                texts.offsets, _structs(decoded.columns, type.value_type, is_null), type=type, mask=texts.is_null()
            ),
            shapes=shapes,
            exact=exact,
            errors=self._errors(decoded.errors, rows, present - offsets[rows]),
            unknown=decoded.unknown,
        )

    def _by_row(
        self, decoded: Decoded, rows: NDArray[np.int64], count: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.int32]]:
        assert decoded.shapes is not None
        of_rows = np.full(count, _ANY_SHAPE, np.int32)
        found = np.where(decoded.exact, decoded.shapes, _MANY_SHAPES)
        of_rows[rows[::-1]] = found[::-1]  # reversed, so that the first object of each row wins
        of_rows[rows[of_rows[rows] != found]] = _MANY_SHAPES
        exact = of_rows != _MANY_SHAPES
        if self._usual == NO_SHAPE and (of_rows >= 0).any():
            self._usual = int(of_rows[of_rows >= 0][0])
        return exact, np.where(of_rows >= 0, of_rows, self._usual).astype(np.int32)

    def _errors(self, errors: Errors, rows: NDArray[np.int64], places: NDArray[np.int64]) -> Errors:
        """The first error of each row."""
        found = Errors()
        for element, reason in zip(errors.rows, errors.reasons, strict=True):
            if not found.rows or found.rows[-1] != rows[element]:
                where = ".".join((*self.path, self.key))
                found.add(int(rows[element]), f"in '{where}[{places[element]}]': {reason}")
        return found

    def encode(self, lists: pa.ListArray, shapes: NDArray[np.int32]) -> pa.BinaryArray:
        """The texts of all elements of these rows. The objects of a row all have the row's shape in `shapes`."""
        elements = elements_of(lists)
        by_element = np.repeat(shapes, np.diff(lists.offsets.to_numpy()))
        written = elements.is_valid().to_numpy(zero_copy_only=False) & (by_element != NO_SHAPE)
        batch = pa.RecordBatch.from_arrays(
            [elements.field(at) for at in range(elements.type.num_fields)], schema=self._schema
        )
        if written.all():
            return self.codec.encode(batch, by_element)
        own = np.flatnonzero(written)
        places = np.cumsum(written) - 1
        return self.codec.encode(batch.take(pa.array(own)), by_element[own]).take(pa.array(places, mask=~written))


def _structs(columns: pa.RecordBatch, type: pa.StructType, is_null: NDArray[np.bool_]) -> pa.StructArray:
    """The columns as structs, with a null for each element that is no object."""
    if is_null.any():
        places = np.cumsum(~is_null) - 1
        columns = columns.take(pa.array(places, mask=is_null))
    return pa.StructArray.from_arrays(columns.columns, fields=list(type), mask=pa.array(is_null))


def with_lists(
    texts: pa.RecordBatch, slots: Sequence[Slot], lists: Mapping[int, pa.ListArray], schema: pa.Schema
) -> pa.RecordBatch:
    """The columns of `schema`: those of `texts`, with `lists` (by slot) in place of the lists of texts."""
    tops = [number for number, slot in enumerate(slots) if slot.parent == kinds.TOP]
    arrays = [
        _with_lists(array, number, slots, lists, field.type)
        for array, number, field in zip(texts.columns, tops, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _with_lists(
    array: pa.Array, number: int, slots: Sequence[Slot], lists: Mapping[int, pa.ListArray], type: pa.DataType
) -> pa.Array:
    if number in lists:
        return lists[number]
    if array.type == type:
        return array
    inside = [at for at, slot in enumerate(slots) if slot.parent == number]
    children = [
        _with_lists(array.field(place), at, slots, lists, field.type)
        for place, (at, field) in enumerate(zip(inside, type, strict=True))
    ]
    return pa.Array.from_buffers(type, len(array), [array.buffers()[0]], children=children)
