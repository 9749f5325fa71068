"""JSON objects to columns and back, in one pass of the kernels: everything except the contents of arrays of objects.

    {"id": 1, "items": [{"sku": "A"}, {"sku": "B"}]}   ->   id 1, items ['{"sku": "A"}', '{"sku": "B"}']

Such a list holds the text of its objects, proven to be JSON. objects.py decodes them as rows.
"""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, Found
from lakestream.contract.codecs.json.decoding import Notes, bytes_of, fresh_hints, source_of
from lakestream.contract.codecs.json.inputs import Inputs
from lakestream.contract.codecs.json.kernels.decoding import decode_rows
from lakestream.contract.codecs.json.kernels.faults import IN_ELEMENT, reason
from lakestream.contract.codecs.json.kernels.number_writing import NO_ROOM, NOT_OF_SHAPE
from lakestream.contract.codecs.json.kernels.views import Source
from lakestream.contract.codecs.json.kernels.writing import encode_rows
from lakestream.contract.codecs.json.keys import ColumnKeys
from lakestream.contract.codecs.json.outputs import Outputs
from lakestream.contract.codecs.json.slots import slots_of, stored_columns
from lakestream.contract.codecs.json.template import template_of
from lakestream.contract.codecs.json.tree import ShapeTree
from lakestream.contract.codecs.json.unknown import found_in, found_objects
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.column import Column
from lakestream.contract.columns.json_text import JSON_TEXT

_BYTES_MORE = 4096
ENCODED_BYTES_MAX = 2**31 - 1
"""The limit of an Arrow array's offsets."""


class RowCodec:
    """Columns in the form of `stored_columns`: lists of structs are lists of text here."""

    def __init__(self, columns: Sequence[Column], version: int, *, declared: bool, lists_within: int) -> None:
        """`lists_within`: how many levels of lists of objects are searched for keys without a column."""
        self._declared = declared
        self._version = version
        self._lists_within = lists_within
        self._schema = arrow_schema(stored_columns(columns, version))
        self._slots = slots_of(columns, version)
        self._keys = ColumnKeys(self._slots)
        self._hints = fresh_hints(self._slots)
        self._tree = ShapeTree(self._slots)

    @property
    def shapes(self) -> list[str]:
        return self._tree.shapes

    @shapes.setter
    def shapes(self, shapes: Sequence[str]) -> None:
        """Set the shapes of the file to be encoded. Raises ValueError if they do not fit the layout."""
        tree = ShapeTree(self._slots)
        for shape in shapes:
            if not tree.add(shape):
                raise ValueError("the file has more shapes than this version writes: update Lakestream")
        self._tree = tree

    def decode(self, values: pa.BinaryArray) -> Decoded:
        source = source_of(values)
        outputs = Outputs(self._slots, len(values), bytes_of(source))
        notes = Notes(source, self._slots, self._hints)
        self._walk(source, outputs, notes)
        return Decoded(
            columns=pa.RecordBatch.from_arrays(outputs.arrays(self._schema.types), schema=self._schema),
            exact=notes.arrays.exact,
            errors=self._errors(values, notes),
            shapes=notes.arrays.shape,
            unknown={} if self._declared else self._unknown(notes),
        )

    def encode(
        self, columns: pa.RecordBatch, shapes: NDArray[np.int32], texts: Mapping[int, pa.BinaryArray]
    ) -> pa.BinaryArray:
        """`texts`: the elements of lists of structs, by the slot of the list, which replace those in the columns."""
        inputs = Inputs(self._slots, columns, texts)
        offsets = np.zeros(len(shapes) + 1, np.int32)
        room = _room(self._bytes_expected(shapes) + inputs.bytes_expected() + _BYTES_MORE)
        row, end = 0, 0
        given = np.ascontiguousarray(shapes, np.int32)
        while row < len(given):
            start = room.ctypes.data
            row, end = encode_rows(row, given, self._tree.tree, inputs.fields, start, start + len(room), offsets)
            if end == NOT_OF_SHAPE:
                raise ValueError(f"row {row} does not have the values of its shape: the file is damaged")
            if end == NO_ROOM:
                room = _grown(room)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(room[:end])]
        return pa.Array.from_buffers(pa.binary(), len(shapes), buffers)

    def _bytes_expected(self, shapes: NDArray[np.int32]) -> int:
        return int(self._tree.text_bytes[shapes].sum())

    # --- decode --------------------------------------------------------------------------------

    def _walk(self, source: Source, outputs: Outputs, notes: Notes) -> None:
        """Run the kernel over all rows. It stops at each row of an unknown shape, which is added here."""
        rows, row, untried, may_grow = len(source.offsets) - 1, 0, 0, True
        while True:
            row = decode_rows(
                row,
                self._declared,
                may_grow,
                untried,
                source,
                outputs.fields,
                self._keys.table,
                self._tree.tree,
                notes.work,
            )
            if row == rows:
                return
            tokens = [*self._tree.path(notes.left_tree_at()), *notes.tokens()]
            may_grow = self._tree.add(template_of(tokens))
            untried = row + 1

    def _unknown(self, notes: Notes) -> dict[str, Found]:
        return found_in(notes.unknown_keys(), self._slots, partial(self._objects_found, notes))

    def _objects_found(self, notes: Notes, number: int) -> Found:
        """The type of the objects in the arrays of this unknown key."""
        if self._lists_within <= 0:
            return JSON_TEXT
        texts = notes.objects_of(number)
        within = RowCodec((), self._version, declared=False, lists_within=self._lists_within - 1)
        source = source_of(texts)
        inner = Notes(source, (), fresh_hints(()))
        within._walk(source, Outputs((), len(texts), bytes_of(source)), inner)
        return found_objects(inner.unknown_keys(), len(texts), partial(within._objects_found, inner))

    def _errors(self, values: pa.BinaryArray, notes: Notes) -> Errors:
        errors, work = Errors(), notes.arrays
        for row in np.flatnonzero(work.fault).tolist():
            slot = self._slots[work.fault_column[row]] if work.fault_column[row] >= 0 else None
            if slot is not None and work.fault[row] & IN_ELEMENT:
                slot = self._slots[slot.element]
            text = reason(
                int(work.fault[row]) & ~IN_ELEMENT,
                values[row].as_py(),
                int(work.fault_at[row]),
                field=slot.path if slot else None,
                declared=slot.column.kind if slot else "",
            )
            errors.add(row, text)
        return errors


def _room(size: int) -> NDArray[np.uint8]:
    return np.empty(min(size, ENCODED_BYTES_MAX), np.uint8)


def _grown(room: NDArray[np.uint8]) -> NDArray[np.uint8]:
    if len(room) == ENCODED_BYTES_MAX:
        raise ValueError("the rows take more than 2 GiB as JSON: encode fewer at a time")
    larger = _room(2 * len(room))
    larger[: len(room)] = room
    return larger
