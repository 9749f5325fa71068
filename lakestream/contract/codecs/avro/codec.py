"""Avro values to columns and back: one writer's schema bound to one layout.

    bind(writer_of(schema, id), layout) -> decode: kernels over the values, then a check that encoding gives them back
                                        -> encode: kernels over the columns

`exact` is the result of a comparison: the decoder encodes each row again and compares the bytes. They differ for values
that Avro allows in several forms (lists in several blocks, padded numbers); the table keeps the bytes of such rows.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.contract.codecs.avro.buffers import AvroBuffers
from lakestream.contract.codecs.avro.compiling import compiled
from lakestream.contract.codecs.avro.kernels.checking import check_rows
from lakestream.contract.codecs.avro.kernels.decoding import decode_rows, finish
from lakestream.contract.codecs.avro.kernels.encoding import encode_rows
from lakestream.contract.codecs.avro.kernels.faults import FAULT_CELLS, NO_ROOM, OK, TOO_LARGE
from lakestream.contract.codecs.avro.kernels.row_writing import SLACK_BYTES
from lakestream.contract.codecs.avro.kernels.skipping import TEXT_DEPTH_MAX
from lakestream.contract.codecs.avro.program import AvroProgram
from lakestream.contract.codecs.avro.reasons import reason
from lakestream.contract.codecs.avro.sources import sources
from lakestream.contract.codecs.codec import Decoded, Errors, Writer
from lakestream.contract.columns.arrow import arrow_schema
from lakestream.contract.columns.layout import Layout
from lakestream.contract.registry.avro.format import AvroSchema
from lakestream.contract.registry.avro.parse import AvroParser
from lakestream.contract.registry.avro.types import AvroType
from lakestream.contract.registry.avro.write import AvroWriter
from lakestream.contract.registry.json_text import parsed_json, written_json

FORMAT = "avro"
CODEC_VERSION = 1
"""Version 1 writes lists in one block, and numbers and decimals in as few bytes as hold them."""

ROW_BYTES_GUESS = 64
ENCODED_BYTES_MAX = 2**31 - 1
"""Arrow's limit of a binary array."""

Bytes = NDArray[np.uint8]


def writer_of(schema: AvroSchema, number: int, *, framed: bool = True) -> Writer:
    """`number` is the registry's id of the schema, which the frame names, or for unframed values a number of the
    table's own."""
    text = written_json(AvroWriter().write(schema.type))
    return Writer(number=number, format=FORMAT, codec=CODEC_VERSION, framed=framed, schema=text)


def bind(writer: Writer, layout: Layout) -> "AvroCodec":
    """Bind a writer to a layout. Raises CannotFollow, a ValueError, for a schema with more fields, or deeper ones, than
    a layout can have."""
    version = _VERSIONS.get(writer.codec)
    if version is None:
        raise ValueError(f"version {writer.codec} of the Avro codec is not known: a newer Lakestream reads it")
    return version(AvroParser().parse(parsed_json(writer.schema)), layout)


class AvroCodec:
    def __init__(self, schema: AvroType, layout: Layout) -> None:
        self.shapes: list[str] = []
        self._layout = layout
        self._program = compiled(schema, layout)
        self._stack = np.zeros(TEXT_DEPTH_MAX, dtype=np.int64)

    def decode(self, values: pa.BinaryArray) -> Decoded:
        data, offsets = _input(values)
        buffers = AvroBuffers(self._program, len(values), int(offsets[-1] - offsets[0]))
        faults = self._fill(data, offsets, buffers)
        exact = np.ones(len(values), dtype=np.uint8)
        exact[faults[:, 0]] = 0
        if self._program.lossy:
            exact[:] = 0
        else:
            self._check(data, offsets, buffers, exact)
        errors = Errors()
        for row, fault, instruction, detail, left in faults.tolist():
            errors.add(row, reason(self._program, fault, instruction, detail, left))
        return Decoded(buffers.batch(self._layout, faults[:, 0]), exact.view(np.bool_), errors)

    def encode(self, columns: pa.RecordBatch, shapes: NDArray[np.int32] | None) -> pa.BinaryArray:
        program = self._program
        if program.lossy:
            raise ValueError(
                "the columns lack a part of the schema and give no bytes back: use the bytes that were kept"
            )
        columns = columns.cast(arrow_schema(self._layout.columns))
        nodes = sources(program, self._layout, columns)
        levels = np.zeros(program.levels, dtype=np.int64)
        offsets = np.zeros(columns.num_rows + 1, dtype=np.int32)
        out = np.empty(ROW_BYTES_GUESS * (columns.num_rows + 1), dtype=np.uint8)
        row = 0
        while row < columns.num_rows:
            room = min(out.size - SLACK_BYTES, ENCODED_BYTES_MAX)
            fault, row, instruction = encode_rows(
                out,
                room,
                offsets,
                row,
                program.ops,
                nodes,
                levels,
                program.symbols,
                program.symbol_starts,
                program.ranks,
            )
            if fault == NO_ROOM and room < ENCODED_BYTES_MAX:
                out = np.concatenate((out, np.empty(out.size, dtype=np.uint8)))
            elif fault != OK:
                raise ValueError(_refusal(program, fault, row, instruction))
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(out)]
        return pa.Array.from_buffers(pa.binary(), columns.num_rows, buffers, null_count=0)

    def _fill(self, data: Bytes, offsets: NDArray[np.int32], buffers: AvroBuffers) -> NDArray[np.int64]:
        """Decode all rows. Returns the faults, one line for each."""
        program, rows = self._program, offsets.size - 1
        faults = np.empty(rows * FAULT_CELLS, dtype=np.int64)
        starts = np.zeros(program.levels, dtype=np.int64)
        row = failed = 0
        while row < rows:  # at most one round for each row and for each doubling of a buffer
            row, failed, node = decode_rows(
                data, offsets, row, program.ops, buffers.nodes, buffers.levels, starts, self._stack,
                program.symbols, program.symbol_starts, faults, failed,
            )  # fmt: skip
            if node >= 0 and not buffers.grow(node):
                faults[failed * FAULT_CELLS : (failed + 1) * FAULT_CELLS] = (
                    row,
                    TOO_LARGE,
                    0,
                    0,
                    0,
                )
                row, failed = row + 1, failed + 1
        finish(buffers.nodes, buffers.levels, rows)
        return faults[: failed * FAULT_CELLS].reshape(-1, FAULT_CELLS)

    def _check(self, data: Bytes, offsets: NDArray[np.int32], buffers: AvroBuffers, exact: Bytes) -> None:
        program = self._program
        row_bytes_max = int(np.max(np.diff(offsets), initial=0))
        scratch = np.empty(row_bytes_max + SLACK_BYTES, dtype=np.uint8)
        levels = np.zeros(program.levels, dtype=np.int64)
        check_rows(
            data, offsets, exact, scratch, program.ops, buffers.nodes, levels,
            program.symbols, program.symbol_starts, program.ranks,
        )  # fmt: skip


_VERSIONS: dict[int, Callable[[AvroType, Layout], AvroCodec]] = {1: AvroCodec}
"""By Writer.codec. Versions are never removed: some file may have been written with each."""


def _input(values: pa.BinaryArray) -> tuple[Bytes, NDArray[np.int32]]:
    """The values' buffers as read-only arrays: read-only and writable arrays are different types to Numba."""
    _, offsets, data = values.buffers()
    if not len(values):
        return _read_only(b"").view(np.uint8), np.frombuffer(bytes(4), dtype=np.int32)
    first = values.offset
    return _read_only(data or b""), _read_only(offsets).view(np.int32)[first : first + len(values) + 1]


def _read_only(buffer: pa.Buffer | bytes) -> Bytes:
    return np.frombuffer(memoryview(buffer).toreadonly(), dtype=np.uint8)


def _refusal(program: AvroProgram, fault: int, row: int, instruction: int) -> str:
    if fault == NO_ROOM:
        return f"{row} rows have more than {ENCODED_BYTES_MAX:,} bytes: encode fewer rows at a time"
    return f"row {row}: the column of '{program.paths[instruction]}' holds no value that its schema can write"
