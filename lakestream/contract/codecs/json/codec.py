"""The JSON codec: values of one topic, bound to the layout of its table.

    bind(writer, layout)                  columns inferred: a value that does not fit is null; the row keeps its bytes
    bind(writer, layout, declared=True)   columns of a JSON Schema: a value of another type is an error of its row

rows.py decodes the rows. Then the objects of all arrays of one column are decoded as rows, level by level.
"""

from collections.abc import Iterable, Sequence
from copy import copy

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Writer
from lakestream.contract.codecs.json.composing import NO_SHAPE, ComposedShapes, Parts, composed, decomposed
from lakestream.contract.codecs.json.inputs import array_at
from lakestream.contract.codecs.json.kernels import kinds
from lakestream.contract.codecs.json.objects import ObjectList, with_lists
from lakestream.contract.codecs.json.rows import RowCodec
from lakestream.contract.codecs.json.slots import FLAT_VERSION, OBJECTS_VERSION, slots_of
from lakestream.contract.codecs.json.unknown import with_unknown
from lakestream.contract.columns.arrow import arrow_schema, arrow_type
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.layout import Layout

CODEC_VERSION = OBJECTS_VERSION
"""Older versions are kept for the files that were written with them."""
LISTS_WITHIN_MAX = 3
"""How many levels of lists of objects get columns. A deeper list is JSON text."""


def bind(writer: Writer, layout: Layout, *, declared: bool = False) -> "JsonCodec":
    if not FLAT_VERSION <= writer.codec <= CODEC_VERSION:
        raise ValueError(f"the values were written by version {writer.codec} of the rules for JSON: update Lakestream")
    return JsonCodec(layout.columns, writer.codec, declared=declared)


class JsonCodec:
    def __init__(
        self, columns: Sequence[Column], version: int, *, declared: bool, lists_within: int = LISTS_WITHIN_MAX
    ) -> None:
        self._schema = arrow_schema(columns)
        self._slots = slots_of(columns, version)
        self._rows = RowCodec(columns, version, declared=declared, lists_within=lists_within)
        self._lists = [
            self._object_list(number, version, declared, lists_within - 1)
            for number, slot in enumerate(self._slots)
            if slot.kind == kinds.LIST and self._slots[slot.element].kind == kinds.OBJECT
        ]
        self._composed = ComposedShapes()

    def _object_list(self, number: int, version: int, declared: bool, lists_within: int) -> ObjectList:
        inside = self._slots[number].column.children[0].children
        codec = JsonCodec(inside, version, declared=declared, lists_within=lists_within)
        return ObjectList(number, self._slots, codec, arrow_schema(inside))

    @property
    def shapes(self) -> list[str]:
        return self._composed.templates if self._lists else self._rows.shapes

    @shapes.setter
    def shapes(self, shapes: Sequence[str]) -> None:
        """Set the shapes of the file to be encoded. Raises ValueError if they do not fit the layout."""
        self._rows = copy(self._rows)
        if not self._lists:
            self._rows.shapes = list(shapes)
            return
        parts = [decomposed(shape) for shape in shapes]
        self._rows.shapes = _different(part.own for part in parts)
        self._lists = [
            one.reading(_different(part.objects[one.column_id] for part in parts if one.column_id in part.objects))
            for one in self._lists
        ]
        self._composed = ComposedShapes()
        for shape, part in zip(shapes, parts, strict=True):
            objects = (one.shape_number(part.objects.get(one.column_id)) for one in self._lists)
            self._composed.append((self._rows.shapes.index(part.own), *objects), shape)

    def decode(self, values: pa.BinaryArray) -> Decoded:
        decoded = self._rows.decode(values)
        return self._with_objects(decoded) if self._lists else decoded

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        if shapes is None:
            raise ValueError("rows of JSON are encoded by their shapes, and there are none")
        if len(shapes) and (shapes.min() < 0 or shapes.max() >= len(self.shapes)):
            raise ValueError("a row has a shape that its file does not: the file is damaged")
        if not self._lists or not len(shapes):
            return self._rows.encode(columns, shapes, {})
        own, *of_objects = self._composed.parts(shapes)
        texts = {
            one.slot: one.encode(array_at(self._slots, one.slot, columns), objects)
            for one, objects in zip(self._lists, of_objects, strict=True)
        }
        return self._rows.encode(columns, own, texts)

    def _with_objects(self, decoded: Decoded) -> Decoded:
        assert decoded.shapes is not None
        exact, errors, unknown = decoded.exact, decoded.errors, decoded.unknown
        lists, of_objects = dict[int, pa.ListArray](), list[NDArray[np.int32]]()
        for one in self._lists:
            found = one.decode(array_at(self._slots, one.slot, decoded.columns), self._list_type(one.slot))
            lists[one.slot] = found.lists
            of_objects.append(found.shapes)
            exact = exact & found.exact
            errors = errors.joined(found.errors)
            unknown = with_unknown(unknown, (*one.path, one.key), found.unknown)
        columns = with_lists(decoded.columns, self._slots, lists, self._schema)
        if errors is not decoded.errors:
            bad = np.zeros(len(exact), np.bool_)
            bad[errors.rows] = True
            exact &= ~bad
            columns = columns.take(pa.array(np.arange(len(bad)), mask=bad))
        shapes = self._numbers(decoded.shapes, of_objects, exact)
        return Decoded(columns, shapes >= 0, errors, shapes, unknown)

    def _list_type(self, number: int) -> pa.ListType:
        return arrow_type(self._slots[number].column)

    def _numbers(
        self, own: NDArray[np.int32], of_objects: Sequence[NDArray[np.int32]], exact: NDArray[np.bool_]
    ) -> NDArray[np.int32]:
        """The shape numbers of the exact rows; NO_SHAPE for the others."""
        shapes = np.full(len(own), NO_SHAPE, np.int32)
        parts = [part[exact] for part in (own, *of_objects)]
        shapes[exact] = self._composed.numbers(parts, self._template)
        return shapes

    def _template(self, parts: Parts) -> str:
        own, *objects = parts
        inner = {
            one.column_id: one.codec.shapes[number]
            for one, number in zip(self._lists, objects, strict=True)
            if number != NO_SHAPE
        }
        return composed(self._rows.shapes[own], inner)


def _different(shapes: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(shapes))
