"""Record batches to Arrow: every field of every record, without handling single records in Python.

    bytes -> index the batches -> check their CRCs -> decompress where needed -> measure -> write -> Arrow

Consecutive uncompressed batches are decoded in one call, straight from the input bytes; each compressed one in a call
of its own. The same compiled pass runs twice: to measure, then to write into buffers of exactly that size, which Arrow
takes over without a copy.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.storage.records.arrays import ByteArray, IntArray, as_array
from lakestream.storage.records.compression import decompress, known_codec
from lakestream.storage.records.errors import BatchTooLarge, CorruptBatch
from lakestream.storage.records.faults import OK, SENTENCES
from lakestream.storage.records.header import (
    CODEC_MASK,
    Bytes,
    Codec,
    crc_of,
)
from lakestream.storage.records.kernels import indexing
from lakestream.storage.records.kernels.columns import Columns
from lakestream.storage.records.kernels.decoding import PROGRESS_COLUMNS, decode_bodies
from lakestream.storage.records.kernels.limits import INT32_MAX

ARROW_BYTES_MAX = INT32_MAX
"""Arrow's plain binary arrays count bytes in 32 bits."""

HEADER = pa.struct([pa.field("key", pa.string(), nullable=False), pa.field("value", pa.binary())])
SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.int64(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.field("header", HEADER, nullable=False)), nullable=False),
    ]
)


def decode_batches(
    data: Bytes, *, bytes_max: int, base_offsets: Sequence[int] | None = None, check_crc: bool = True
) -> pa.RecordBatch:
    """The records of a run of whole batches, in order.

    `base_offsets` places batches that carry base offset 0, as in a segment: one offset for each batch. `bytes_max`
    bounds the decompressed size of all records together.
    """
    buffer = as_array(data)
    table = _index(buffer)
    if base_offsets is not None:
        table[:, indexing.BASE_OFFSET] = base_offsets
    if check_crc:
        _check_crcs(memoryview(data), table)
    bodies = list(_bodies(memoryview(data), buffer, table, min(bytes_max, ARROW_BYTES_MAX)))
    return _decode(bodies)


def _index(buffer: ByteArray) -> IntArray:
    """A table with a row for each batch. The batches are counted first, so that the table has the right size."""
    fault, batches, at = indexing.index_batches(buffer, np.empty((0, indexing.INDEX_COLUMNS), np.int64))
    if fault != OK:
        raise CorruptBatch(f"batch {batches}, at byte {at}: {SENTENCES[fault]}")
    table = np.empty((batches, indexing.INDEX_COLUMNS), np.int64)
    indexing.index_batches(buffer, table)
    return table


def _check_crcs(data: memoryview, table: IntArray) -> None:
    for at, end, stored in table[:, [indexing.AT, indexing.END, indexing.CRC]].tolist():
        computed = crc_of(data[at:end])
        if stored != computed:
            raise CorruptBatch(f"the batch at byte {at} has checksum {computed:#010x}, its header says {stored:#010x}")


def _bodies(
    data: memoryview, buffer: ByteArray, table: IntArray, bytes_max: int
) -> Iterator[tuple[ByteArray, IntArray]]:
    """(bytes, batches in them): runs of uncompressed batches in place, compressed batches decompressed one by one."""
    codecs = table[:, indexing.ATTRIBUTES] & CODEC_MASK
    left = bytes_max
    for first, last in _runs(codecs):
        run = table[first:last]
        if codecs[first] != Codec.NONE:
            body, run = _decompressed(data, run, int(codecs[first]), left)
        else:
            body = buffer
        left -= int((run[:, indexing.END] - run[:, indexing.BODY]).sum())
        if left < 0:
            raise BatchTooLarge(f"the records take more than {bytes_max} bytes together: decode fewer batches at once")
        yield body, run


def _runs(codecs: IntArray) -> Iterator[tuple[int, int]]:
    """[first, last) of each stretch of uncompressed batches, and of each compressed batch by itself."""
    if len(codecs) == 0:
        return
    compressed = codecs != Codec.NONE
    starts = np.flatnonzero(compressed | np.concatenate(([True], compressed[:-1])))
    yield from zip(starts.tolist(), [*starts[1:].tolist(), len(codecs)], strict=True)


def _decompressed(data: memoryview, row: IntArray, codec: int, bytes_max: int) -> tuple[ByteArray, IntArray]:
    at, end = int(row[0, indexing.BODY]), int(row[0, indexing.END])
    body = decompress(known_codec(codec), data[at:end], bytes_max=bytes_max)
    moved = row.copy()
    moved[0, indexing.BODY], moved[0, indexing.END] = 0, len(body)
    return as_array(body), moved


def _decode(bodies: list[tuple[ByteArray, IntArray]]) -> pa.RecordBatch:
    measured = _pass(bodies, _room_for(Measure(*[0] * PROGRESS_COLUMNS)), write=False)
    out = _room_for(measured)
    _pass(bodies, out, write=True)
    return _as_arrow(out, measured)


class Measure(NamedTuple):
    """Sizes of the records' contents, in the order in which the kernel counts them."""

    rows: int
    key_bytes: int
    value_bytes: int
    key_nulls: int
    value_nulls: int
    headers: int
    header_key_bytes: int
    header_value_bytes: int
    header_nulls: int


def _pass(bodies: list[tuple[ByteArray, IntArray]], out: Columns, *, write: bool) -> Measure:
    progress = np.zeros(PROGRESS_COLUMNS, np.int64)
    for body, table in bodies:
        fault, batch = decode_bodies(body, table, out, progress, write)
        if fault != OK:
            raise CorruptBatch(f"the batch at byte {int(table[batch, indexing.AT])}: {SENTENCES[fault]}")
    return Measure(*progress.tolist())


def _room_for(size: Measure) -> Columns:
    return Columns(
        offset=np.empty(size.rows, np.int64),
        timestamp=np.empty(size.rows, np.int64),
        key_offsets=_offsets(size.rows),
        key_data=np.empty(size.key_bytes, np.uint8),
        key_valid=_bitmap(size.rows),
        value_offsets=_offsets(size.rows),
        value_data=np.empty(size.value_bytes, np.uint8),
        value_valid=_bitmap(size.rows),
        header_lists=_offsets(size.rows),
        header_key_offsets=_offsets(size.headers),
        header_key_data=np.empty(size.header_key_bytes, np.uint8),
        header_value_offsets=_offsets(size.headers),
        header_value_data=np.empty(size.header_value_bytes, np.uint8),
        header_value_valid=_bitmap(size.headers),
    )


def _offsets(rows: int) -> NDArray[np.int32]:
    offsets = np.empty(rows + 1, np.int32)
    offsets[0] = 0
    return offsets


def _bitmap(rows: int) -> ByteArray:
    return np.zeros((rows + 7) // 8, np.uint8)


def _as_arrow(out: Columns, size: Measure) -> pa.RecordBatch:
    """The buffers as an Arrow record batch. Nothing is copied."""
    header_key = _variable(pa.string(), out.header_key_offsets, out.header_key_data)
    header_value = _variable(
        pa.binary(), out.header_value_offsets, out.header_value_data, out.header_value_valid, size.header_nulls
    )
    header = pa.Array.from_buffers(HEADER, size.headers, [None], 0, children=[header_key, header_value])
    lists = [None, pa.py_buffer(out.header_lists)]
    return pa.RecordBatch.from_arrays(
        [
            pa.Array.from_buffers(pa.int64(), size.rows, [None, pa.py_buffer(out.offset)], 0),
            pa.Array.from_buffers(pa.int64(), size.rows, [None, pa.py_buffer(out.timestamp)], 0),
            _variable(pa.binary(), out.key_offsets, out.key_data, out.key_valid, size.key_nulls),
            _variable(pa.binary(), out.value_offsets, out.value_data, out.value_valid, size.value_nulls),
            pa.Array.from_buffers(SCHEMA.field("headers").type, size.rows, lists, 0, children=[header]),
        ],
        schema=SCHEMA,
    )


def _variable(
    kind: pa.DataType, offsets: NDArray[np.int32], data: ByteArray, valid: ByteArray | None = None, nulls: int = 0
) -> pa.Array:
    bitmap = pa.py_buffer(valid) if nulls else None
    return pa.Array.from_buffers(kind, len(offsets) - 1, [bitmap, pa.py_buffer(offsets), pa.py_buffer(data)], nulls)
