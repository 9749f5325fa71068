"""Arrow to record batches: the reverse of decode.py, for replay from tables, for producing and for tests.

    Arrow buffers -> one compiled pass writes all records -> per batch: compress, header, CRC

Rows carry their own offsets, rising but not necessarily dense. The first row's offset is a batch's base offset, and a
batch ends where the next row would make it too large. Uncompressed batches are slices of one buffer. The bytes are
those that Kafka's own builders write for the same records.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from lakestream.model.errors import Invalid
from lakestream.storage.records.arrays import ByteArray, as_array
from lakestream.storage.records.compression import compress
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.faults import OFFSET_DELTA, OK
from lakestream.storage.records.header import (
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    NO_PRODUCER,
    BatchHeader,
    Codec,
    seal,
)
from lakestream.storage.records.kernels.columns import Columns, FirstBits
from lakestream.storage.records.kernels.encoding import (
    ENCODED_COLUMNS,
    HEADER_OVERHEAD_BYTES_MAX,
    OUT_END,
    RECORD_OVERHEAD_BYTES_MAX,
    encode_rows,
)
from lakestream.storage.records.kernels.limits import INT32_MAX
from lakestream.storage.records.kernels.views import VIEW_LENGTH, VIEW_NUMBERS, Views

VIEWS_SCHEMA = SCHEMA.set(3, pa.field("value", pa.binary_view()))
"""The same with values as Arrow views, which may lie in any number of buffers."""

FILLED_SHARE_MIN = 3 / 4
"""A buffer filled less than this is shrunk to its used size; above it, shrinking is not worth the call."""


class UnencodableRows(Invalid):
    """Rows that are not records: another schema, nulls where none may be, or offsets that do not rise."""


class EncodedBatch(NamedTuple):
    base_offset: int
    last_offset: int
    data: memoryview
    """Writable, so that a base offset can be patched in place."""


def encode_batches(
    rows: pa.RecordBatch, *, batch_bytes_max: int, codec: Codec = Codec.NONE, leader_epoch: int = 0
) -> list[memoryview]:
    """The rows as batches, in order, none above `batch_bytes_max` before compression unless it holds one record."""
    encoded = encode_placed(rows, batch_bytes_max=batch_bytes_max, codec=codec, leader_epoch=leader_epoch)
    return [batch.data for batch in encoded]


def encode_placed(
    rows: pa.RecordBatch,
    *,
    batch_bytes_max: int,
    codec: Codec = Codec.NONE,
    log_append_time: bool = False,
    leader_epoch: int = 0,
) -> list[EncodedBatch]:
    """`encode_batches`, with the first and last offset of each batch. All records of a log-append-time batch have the
    same time, so such a batch ends where the time changes."""
    _check(rows)
    columns, first_bits = columns_of(*rows.columns)
    views = _views(rows.column("value"))
    value_bytes = int(columns.value_offsets[-1]) - int(columns.value_offsets[0])
    value_bytes += int(views.numbers[:, VIEW_LENGTH].sum(dtype=np.int64))
    return encode_columns(
        columns,
        first_bits,
        views,
        value_bytes,
        batch_bytes_max=batch_bytes_max,
        codec=codec,
        log_append_time=log_append_time,
        leader_epoch=leader_epoch,
    )


def encode_columns(
    columns: Columns,
    first_bits: FirstBits,
    views: Views,
    value_bytes: int,
    *,
    batch_bytes_max: int,
    codec: Codec,
    log_append_time: bool = False,
    leader_epoch: int = 0,
) -> list[EncodedBatch]:
    """`encode_placed` from Arrow's buffers. All values together have at most `value_bytes`."""
    records_bytes = _records_bytes_most(columns, value_bytes)
    batches_most = _batches_most(columns.offset, records_bytes, batch_bytes_max)
    if log_append_time:
        batches_most = min(batches_most + int(np.count_nonzero(np.diff(columns.timestamp))), len(columns.offset))
    out = np.empty(records_bytes + batches_most * HEADER_BYTES, np.uint8)
    table = np.empty((batches_most, ENCODED_COLUMNS), np.int64)
    fault, batches = encode_rows(out, columns, views, first_bits, batch_bytes_max, log_append_time, table)
    if fault == OFFSET_DELTA:
        raise UnencodableRows("offsets must rise from row to row: sort the rows first")
    assert fault == OK, fault  # the output has room for anything that the rows may hold
    if codec is Codec.NONE and batches:
        _give_back(out, int(table[batches - 1, OUT_END]))
    room = out.data
    attributes = codec | LOG_APPEND_TIME_BIT if log_append_time else codec
    return [_finished(room, entry, codec, attributes, leader_epoch) for entry in table[:batches].tolist()]


def _check(rows: pa.RecordBatch) -> None:
    if rows.schema.types not in (SCHEMA.types, VIEWS_SCHEMA.types) or rows.schema.names != SCHEMA.names:
        raise UnencodableRows(f"rows have schema {rows.schema}; cast them to {SCHEMA}")
    check_nulls(rows.column("offset"), rows.column("timestamp"), rows.column("headers"))


def check_nulls(offset: pa.Array, timestamp: pa.Array, headers: pa.Array) -> None:
    if offset.null_count or timestamp.null_count or headers.null_count:
        raise UnencodableRows("offset, timestamp and headers are never null: fill them with -1 or an empty list")
    if headers.values.null_count or headers.values.field("key").null_count:
        raise UnencodableRows("a header and its key are never null")


def columns_of(
    offset: pa.Array, timestamp: pa.Array, key: pa.Array, value: pa.Array, headers: pa.Array
) -> tuple[Columns, FirstBits]:
    """Records in the form that the kernels take, except for values that are Arrow views."""
    plain = value if value.type == SCHEMA.field("value").type else NO_VALUES
    header_key, header_value = headers.values.field("key"), headers.values.field("value")
    columns = Columns(
        offset=_fixed(offset, 1, np.dtype(np.int64), len(offset)),
        timestamp=_fixed(timestamp, 1, np.dtype(np.int64), len(timestamp)),
        key_offsets=_fixed(key, 1, np.dtype(np.int32), len(key) + 1),
        key_data=_bytes(key, 2),
        key_valid=_valid(key),
        value_offsets=_fixed(plain, 1, np.dtype(np.int32), len(plain) + 1),
        value_data=_bytes(plain, 2),
        value_valid=_valid(value),
        header_lists=_fixed(headers, 1, np.dtype(np.int32), len(headers) + 1),
        header_key_offsets=_fixed(header_key, 1, np.dtype(np.int32), len(header_key) + 1),
        header_key_data=_bytes(header_key, 2),
        header_value_offsets=_fixed(header_value, 1, np.dtype(np.int32), len(header_value) + 1),
        header_value_data=_bytes(header_value, 2),
        header_value_valid=_valid(header_value),
    )
    return columns, FirstBits(key.offset, value.offset, header_value.offset)


def _fixed(array: pa.Array, buffer: int, kind: "np.dtype[np.int32] | np.dtype[np.int64]", count: int) -> np.ndarray:
    """`count` numbers of an Arrow buffer, from where the array's slice begins."""
    if len(array) == 0:
        empty = np.zeros(count, kind)
        empty.flags.writeable = False
        return empty
    return as_array(memoryview(array.buffers()[buffer])).view(kind)[array.offset : array.offset + count]


def _bytes(array: pa.Array, buffer: int) -> ByteArray:
    data = array.buffers()[buffer]
    return as_array(b"" if data is None else memoryview(data))


def _valid(array: pa.Array) -> ByteArray:
    return as_array(b"") if array.null_count == 0 else _bytes(array, 0)


def _views(values: pa.Array) -> Views:
    """The views of a column of Arrow views; empty for a column of plain values."""
    if values.type != VIEWS_SCHEMA.field("value").type:
        return _NO_VIEWS
    _, views, *buffers = values.buffers()
    numbers = as_array(memoryview(views)).view(np.int32).reshape(-1, VIEW_NUMBERS)
    own = numbers[values.offset : values.offset + len(values)]
    places = [(own.ctypes.data, own.nbytes), *((each.address, each.size) for each in buffers)]
    return Views(own, _read_only(np.array(places, np.int64)))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


NO_VALUES = pa.array([], SCHEMA.field("value").type)
_NO_VIEWS = Views(_read_only(np.empty((0, VIEW_NUMBERS), np.int32)), _read_only(np.empty((0, 2), np.int64)))


def _records_bytes_most(columns: Columns, value_bytes: int) -> int:
    """An upper bound of the encoded size of the rows, without batch headers."""
    first, last = int(columns.header_lists[0]), int(columns.header_lists[-1])
    data = value_bytes + int(columns.key_offsets[-1]) - int(columns.key_offsets[0])
    for offsets in (columns.header_key_offsets, columns.header_value_offsets):
        data += int(offsets[last]) - int(offsets[first])
    overhead = len(columns.offset) * RECORD_OVERHEAD_BYTES_MAX
    return data + overhead + (last - first) * HEADER_OVERHEAD_BYTES_MAX


def _batches_most(offsets: np.ndarray, records_bytes: int, batch_bytes_max: int) -> int:
    """An upper bound of the number of batches. Where a batch ends for its size, it and its successor together exceed
    the size limit; otherwise their offsets are more than INT32_MAX apart. So there need not be room for a header of
    each row."""
    if len(offsets) == 0:
        return 0
    records_max = max(batch_bytes_max - HEADER_BYTES, 1)
    leaps = (int(offsets.max()) - int(offsets.min())) // INT32_MAX
    return min(len(offsets), 1 + 2 * (records_bytes // records_max) + leaps)


def _give_back(out: ByteArray, used: int) -> None:
    """Shrink the output. Uncompressed batches stay where they were written, and small records fill a fraction of it."""
    if used < FILLED_SHARE_MIN * out.size:
        out.resize(used, refcheck=False)


def _finished(room: memoryview, entry: list[int], codec: Codec, attributes: int, leader_epoch: int) -> EncodedBatch:
    """The batch at an entry of the kernel's table, with its header."""
    at, end, count, base_offset, last_delta, base_time, max_time = entry
    batch = room[at:end]
    if codec is not Codec.NONE:
        batch = memoryview(bytearray().join((bytes(HEADER_BYTES), compress(codec, batch[HEADER_BYTES:]))))
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=len(batch) - LENGTH_OVERHEAD_BYTES,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=last_delta,
        base_timestamp_ms=base_time,
        max_timestamp_ms=max_time,
        producer_id=NO_PRODUCER,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=count,
    )
    seal(batch, header)
    return EncodedBatch(base_offset, base_offset + last_delta, batch)
