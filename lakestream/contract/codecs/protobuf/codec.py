"""The Protobuf codec: rows to columns, columns back to bytes, and a check which rows come back unchanged.

    prefix -> read_rows -> cells -> Arrow -> cells -> write_rows -> compared with the input

Between its frame and the message, a framed value has the place of the message in its file: a count and that many
numbers, all zig-zag; a single 0 stands for the file's first message. Rows of another message are errors here.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from google.protobuf import descriptor_pb2, message_factory  # type: ignore[import-untyped]
from google.protobuf.descriptor_pool import DescriptorPool  # type: ignore[import-untyped]
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lakestream.contract.codecs.codec import Decoded, Errors, Writer
from lakestream.contract.codecs.protobuf.faults import other_message, reason_of
from lakestream.contract.codecs.protobuf.kernels.cells import Cells, Levels
from lakestream.contract.codecs.protobuf.kernels.comparing import same_rows
from lakestream.contract.codecs.protobuf.kernels.decoding import read_rows
from lakestream.contract.codecs.protobuf.kernels.encoding import write_rows
from lakestream.contract.codecs.protobuf.kernels.tables import (
    CONDEMNED,
    FAULT_CODE,
    FAULT_COLUMNS,
    FRAME_COLUMNS,
    OK,
    OTHER_MESSAGE,
    SAID_TWICE,
)
from lakestream.contract.codecs.protobuf.prefix import indexes_of, message_named, prefixes
from lakestream.contract.codecs.protobuf.program import ProtobufProgram, program_of
from lakestream.contract.codecs.protobuf.reading import Reading
from lakestream.contract.codecs.protobuf.writing import Writing
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.from_protobuf import message_of
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.protobuf.format import ProtoSchema

FORMAT = "protobuf"
CODEC_VERSION = 1
_READ_TIMES_MAX = 8
"""Each pass but the last puts rows in order or drops them, and no row more than once: see `_columns`."""


def writer_of(schema: ProtoSchema, *, number: int, framed: bool, message: str = "") -> Writer:
    """The writer of the message with this full name, or of the file's first. Raises InvalidSchema."""
    descriptor = message_of(schema, message)
    files = descriptor_pb2.FileDescriptorSet(file=[one.file for one in schema.proto.reachable()])
    return Writer(
        number=number,
        format=FORMAT,
        codec=CODEC_VERSION,
        framed=framed,
        schema=base64.b64encode(files.SerializeToString(deterministic=True)).decode(),
        message=descriptor.full_name,
        indexes=indexes_of(descriptor),
    )


def bind(writer: Writer, layout: Layout) -> "ProtobufCodec":
    """Raises ValueError if the writer is of a newer codec."""
    if writer.codec != CODEC_VERSION:
        raise ValueError(f"codec version {writer.codec} of Protobuf is not known here: a newer Lakestream reads it")
    pool = DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(base64.b64decode(writer.schema)).file:
        pool.AddSerializedFile(file.SerializeToString())
    return ProtobufCodec(writer, layout, pool.FindMessageTypeByName(writer.message))


class ProtobufCodec:
    def __init__(self, writer: Writer, layout: Layout, message: Any) -> None:
        self.shapes: list[str] = []
        self._message = message
        self._schema = arrow_schema(layout.columns)
        self._program = program_of(message, layout.columns)
        self._prefix, self._other_prefix = prefixes(writer.indexes) if writer.framed else (_no_bytes(), _no_bytes())

    def decode(self, values: pa.BinaryArray) -> Decoded:
        faults, reasons = np.zeros((len(values), FAULT_COLUMNS), np.int32), dict[int, str]()
        columns = self._columns(values, faults, reasons)
        errors = Errors()
        for row in np.flatnonzero(faults[:, FAULT_CODE] != OK).tolist():
            errors.add(row, reasons.get(row) or self._reason(faults[row], values[row]))
        exact = self._same(values, columns) & (faults[:, FAULT_CODE] == OK)
        return Decoded(columns=columns, exact=exact, errors=errors)

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        out, offsets = self._written(columns)
        start = int(offsets[0])
        if int(offsets[-1]) - start > np.iinfo(np.int32).max:
            raise ValueError("the values have more than 2 GiB together: encode fewer rows at a time")
        buffers = [None, pa.py_buffer((offsets - start).astype(np.int32)), pa.py_buffer(out).slice(start)]
        return pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers)

    def _reason(self, fault: NDArray[np.int32], value: pa.BinaryScalar) -> str:
        own = self._message.full_name
        if fault[FAULT_CODE] == OTHER_MESSAGE:
            return other_message(message_named(value.as_py(), self._message.file), own)
        return reason_of(fault, self._program.paths, own)

    # --- decoding ------------------------------------------------------------------------------

    def _columns(self, values: pa.BinaryArray, faults: NDArray[np.int32], reasons: dict[int, str]) -> pa.RecordBatch:
        """Read the rows to columns, mostly in one pass. If rows contain a part twice, Protobuf's own library first puts
        them in order; rows with a value that no column can hold become faults. Then all rows are read again."""
        ordered = set[int]()
        for _ in range(_READ_TIMES_MAX):
            reading = self._read(values, faults)
            twice = set(np.flatnonzero(faults[:, FAULT_CODE] == SAID_TWICE).tolist())
            columns = None
            if not twice:
                columns = reading.columns(self._program.places, self._schema, faults[:, FAULT_CODE] == OK)
                twice = reading.said_twice - reading.condemned.keys()
            if columns is not None and not twice and not reading.condemned:
                return columns
            reasons |= reading.condemned
            faults[[*reading.condemned, *(twice & ordered)], FAULT_CODE] = CONDEMNED
            values = self._in_order(values, twice - ordered, faults, reasons)
            ordered |= twice
        raise AssertionError("a message that Protobuf put in order still says a thing twice")

    def _read(self, values: pa.BinaryArray, faults: NDArray[np.int32]) -> Reading:
        program, (source, offsets) = self._program, _raw(values)
        sizes = np.zeros(program.levels, np.int64)
        sizes[0] = len(values)
        if program.levels > 1:
            counting = _levels(sizes)
            self._run(source, offsets, _cells(program, np.zeros_like(sizes)), counting, faults, write=False)
            sizes[1:] = counting.counts[1:]
        cells, levels = _cells(program, sizes), _levels(sizes)
        self._run(source, offsets, cells, levels, faults, write=True)
        return Reading(source=source, cells=cells, levels=levels)

    def _run(
        self,
        source: NDArray[np.uint8],
        offsets: NDArray[np.int32],
        cells: Cells,
        levels: Levels,
        faults: NDArray[np.int32],
        *,
        write: bool,
    ) -> None:
        stack = np.zeros((self._program.depth, FRAME_COLUMNS), np.int64)
        read_rows(
            source, offsets, self._prefix, self._other_prefix, self._program.tables, cells, levels, faults, stack, write
        )

    def _in_order(
        self, values: pa.BinaryArray, rows: set[int], faults: NDArray[np.int32], reasons: dict[int, str]
    ) -> pa.BinaryArray:
        """The values, with these rows as Protobuf's own library writes them. It refuses some rows, which become
        faults."""
        if not rows:
            return values
        kind, changed = message_factory.GetMessageClass(self._message), values.to_pylist()
        for row in rows:
            start = len(self._prefix) if changed[row].startswith(self._prefix.tobytes()) else len(self._other_prefix)
            try:
                message = kind.FromString(changed[row][start:])
            except DecodeError as error:
                faults[row, FAULT_CODE], reasons[row] = CONDEMNED, f"the message cannot be read: {error}"
            else:
                message.DiscardUnknownFields()
                faults[row] = OK
                changed[row] = self._prefix.tobytes() + message.SerializePartialToString(deterministic=True)
        return pa.array(changed, pa.binary())

    def _same(self, values: pa.BinaryArray, columns: pa.RecordBatch) -> NDArray[np.bool_]:
        source, offsets = _raw(values)
        out, written = self._written(columns)
        same = np.zeros(len(values), np.bool_)
        same_rows(source, offsets, out, written, same)
        return same

    # --- encoding ------------------------------------------------------------------------------

    def _written(self, columns: pa.RecordBatch) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        program = self._program
        sizes = [columns.num_rows] + [0] * (program.levels - 1)
        writing = Writing(node_levels=program.node_levels, level_sizes=sizes)
        writing.take(program.places, columns)
        cells = writing.cells()
        out = np.empty(writing.bytes_max(self._prefix.size), np.uint8)
        offsets = np.zeros(columns.num_rows + 1, np.int64)
        stack = np.zeros((program.depth, FRAME_COLUMNS), np.int64)
        if write_rows(out, self._prefix, program.tables, cells, offsets, stack) < 0:
            raise AssertionError("messages take more bytes than their cells can")
        return out, offsets


def _raw(values: pa.BinaryArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """All bytes, and the offsets of the values in them, as read-only, aligned arrays. Each other kind of array is
    another type to Numba, for which it would compile again."""
    if len(values) == 0:
        return _no_bytes(), np.frombuffer(bytes(4), np.int32)
    _, offsets, data = values.buffers()
    source = _no_bytes() if data is None or data.size == 0 else np.frombuffer(data, np.uint8)
    places = np.frombuffer(offsets, np.int32)[values.offset : values.offset + len(values) + 1]
    places = np.require(places, requirements="A")
    source.setflags(write=False)
    places.setflags(write=False)
    return source, places


def _no_bytes() -> NDArray[np.uint8]:
    return np.frombuffer(b"", np.uint8)


def _cells(program: ProtobufProgram, sizes: NDArray[np.int64]) -> Cells:
    node_sizes = sizes[np.array(program.node_levels, np.int64)]
    bases = np.concatenate([[0], np.cumsum(node_sizes)]).astype(np.int64)
    total = int(bases[-1])
    return Cells(
        bases=bases,
        numbers=np.zeros(total, np.int64),
        lengths=np.zeros(total, np.int32),
        valid=np.zeros(total, np.uint8),
    )


def _levels(sizes: Sequence[int] | NDArray[np.int64]) -> Levels:
    room = np.array(sizes, np.int64)
    room[0] = 0  # rows are their own owners
    return Levels(
        counts=np.zeros(room.size, np.int64),
        before=np.zeros(room.size, np.int64),
        sizes=room,
        bases=np.concatenate([[0], np.cumsum(room)]).astype(np.int64),
        owners=np.zeros(int(room.sum()), np.int32),
    )
