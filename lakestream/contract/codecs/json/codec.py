"""JSON values of one topic, bound to the layout of its table.

codec = bind(writer, layout)                 columns inferred: what does not fit is null, and the row keeps its bytes
codec = bind(writer, layout, declared=True)  columns of a JSON Schema: a value of another type is an error of its row
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, Writer
from lakestream.contract.codecs.json import kernels
from lakestream.contract.codecs.json.decoding import Notes, bytes_of, fresh_hints, source_of
from lakestream.contract.codecs.json.faults import IN_ELEMENT, reason
from lakestream.contract.codecs.json.inputs import Inputs
from lakestream.contract.codecs.json.kernels import Source
from lakestream.contract.codecs.json.keys import ColumnKeys
from lakestream.contract.codecs.json.outputs import Outputs
from lakestream.contract.codecs.json.slots import slots_of
from lakestream.contract.codecs.json.template import template_of
from lakestream.contract.codecs.json.tree import ShapeTree
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.layout import Layout

CODEC_VERSION = 2
FLAT_VERSION = 1
"""Under these rules structs and lists were not filled: what is nested was text."""
_BYTES_MORE = 4096
ENCODED_BYTES_MAX = 2**31 - 1
"""What the offsets of an Arrow array can count."""


def bind(writer: Writer, layout: Layout, *, declared: bool = False) -> "JsonCodec":
    if writer.codec not in (FLAT_VERSION, CODEC_VERSION):
        raise ValueError(f"the values were written by version {writer.codec} of the rules for JSON: update Lakestream")
    return JsonCodec(layout, declared=declared, nested=writer.codec > FLAT_VERSION)


class JsonCodec:
    def __init__(self, layout: Layout, *, declared: bool, nested: bool) -> None:
        self._declared = declared
        self._schema = arrow_schema(layout.columns)
        self._slots = slots_of(layout.columns, nested=nested)
        self._keys = ColumnKeys(self._slots)
        self._hints = fresh_hints(self._slots)
        self._tree = ShapeTree(self._slots)

    @property
    def shapes(self) -> list[str]:
        return self._tree.shapes

    @shapes.setter
    def shapes(self, shapes: Sequence[str]) -> None:
        """Of the file to be encoded. Raises ValueError where they are not of this layout."""
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
            exact=notes.work.exact,
            errors=self._errors(values, notes),
            shapes=notes.work.shape,
            unknown={} if self._declared else notes.unknown(),
        )

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        if shapes is None:
            raise ValueError("rows of JSON are encoded by their shapes, and there are none")
        if len(shapes) and (shapes.min() < 0 or shapes.max() >= len(self.shapes)):
            raise ValueError("a row has a shape that its file does not: the file is damaged")
        inputs = Inputs(self._slots, columns)
        offsets = np.zeros(len(shapes) + 1, np.int32)
        room = _room(self._bytes_expected(shapes) + inputs.bytes_expected() + _BYTES_MORE)
        row, end = 0, 0
        given = np.ascontiguousarray(shapes, np.int32)
        while row < len(given):
            start = room.ctypes.data
            row, end = kernels.encode_rows(
                row, given, self._tree.tree, inputs.fields, start, start + len(room), offsets
            )
            if end == kernels.NOT_OF_SHAPE:
                raise ValueError(f"row {row} does not have the values of its shape: the file is damaged")
            if end == kernels.NO_ROOM:
                room = _grown(room)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(room[:end])]
        return pa.Array.from_buffers(pa.binary(), len(shapes), buffers)

    def _bytes_expected(self, shapes: NDArray[np.int32]) -> int:
        return int(self._tree.text_bytes[shapes].sum())

    # --- decode --------------------------------------------------------------------------------

    def _walk(self, source: Source, outputs: Outputs, notes: Notes) -> None:
        """The kernel stops at the first row of a shape that it does not know."""
        rows, row, untried, may_grow = len(source.offsets) - 1, 0, 0, True
        while True:
            row = kernels.decode_rows(
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

    def _errors(self, values: pa.BinaryArray, notes: Notes) -> Errors:
        errors, work = Errors(), notes.work
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
