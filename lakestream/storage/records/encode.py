"""Arrow to record batches: the way back, for replay from tables, for producing and for tests.

    Arrow buffers -> one compiled pass writes all records -> per batch: compress, header, CRC

Rows carry their own offsets, rising but not necessarily dense: each batch is based on its first
row's and ends where the next row would make it too large. Uncompressed batches are slices of one
buffer. The bytes are those that Kafka's own builders write for the same records.
"""

import numpy as np
import pyarrow as pa

from lakestream.model.errors import Invalid
from lakestream.storage.records import kernels
from lakestream.storage.records.arrays import ByteArray, as_array
from lakestream.storage.records.compression import compress
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.faults import OFFSET_DELTA, OK
from lakestream.storage.records.header import (
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    NO_PRODUCER,
    BatchHeader,
    Codec,
    crc_of,
    pack_header,
)

VIEWS_SCHEMA = SCHEMA.set(3, pa.field("value", pa.binary_view()))
"""The same with values that lie wherever they were found, in any number of buffers."""


class UnencodableRows(Invalid):
    """Rows that are not records: another schema, nulls where none may be, or offsets that do not rise."""


def encode_batches(
    rows: pa.RecordBatch, *, batch_bytes_max: int, codec: Codec = Codec.NONE, leader_epoch: int = 0
) -> list[memoryview]:
    """The rows as batches, in order, none above `batch_bytes_max` before compression unless it holds one record.

    The views are writable, so that a base offset can be patched in place.
    """
    _check(rows)
    columns, first_bits = _columns(rows)
    views = _views(rows.column("value"))
    out = np.empty(_bytes_most(rows, columns, views), np.uint8)
    table = np.empty((rows.num_rows, kernels.ENCODED_COLUMNS), np.int64)
    fault, batches = kernels.encode_rows(out, columns, views, first_bits, batch_bytes_max, table)
    if fault == OFFSET_DELTA:
        raise UnencodableRows("offsets must rise from row to row: sort the rows first")
    assert fault == OK, fault  # there is room for whatever the rows may hold
    room = out.data
    return [_finished(room, entry, codec, leader_epoch) for entry in table[:batches].tolist()]


def _check(rows: pa.RecordBatch) -> None:
    if rows.schema.types not in (SCHEMA.types, VIEWS_SCHEMA.types) or rows.schema.names != SCHEMA.names:
        raise UnencodableRows(f"rows have schema {rows.schema}; cast them to {SCHEMA}")
    headers = rows.column("headers")
    if rows.column("offset").null_count or rows.column("timestamp").null_count or headers.null_count:
        raise UnencodableRows("offset, timestamp and headers are never null: fill them with -1 or an empty list")
    if headers.values.null_count or headers.values.field("key").null_count:
        raise UnencodableRows("a header and its key are never null")


def _columns(rows: pa.RecordBatch) -> tuple[kernels.Columns, kernels.FirstBits]:
    offset, timestamp, key, value, headers = rows.columns
    plain = value if value.type == SCHEMA.field("value").type else _NO_VALUES
    header_key, header_value = headers.values.field("key"), headers.values.field("value")
    columns = kernels.Columns(
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
    return columns, kernels.FirstBits(key.offset, value.offset, header_value.offset)


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


def _views(values: pa.Array) -> kernels.Views:
    """The views of a column that has some: they are the only ones with a layout of their own."""
    if values.type != VIEWS_SCHEMA.field("value").type:
        return _NO_VIEWS
    _, views, *buffers = values.buffers()
    numbers = as_array(memoryview(views)).view(np.int32).reshape(-1, kernels.VIEW_NUMBERS)
    own = numbers[values.offset : values.offset + len(values)]
    places = [(own.ctypes.data, own.nbytes), *((each.address, each.size) for each in buffers)]
    return kernels.Views(own, _read_only(np.array(places, np.int64)))


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


_NO_VALUES = pa.array([], SCHEMA.field("value").type)
_NO_VIEWS = kernels.Views(
    _read_only(np.empty((0, kernels.VIEW_NUMBERS), np.int32)), _read_only(np.empty((0, 2), np.int64))
)


def _bytes_most(rows: pa.RecordBatch, columns: kernels.Columns, views: kernels.Views) -> int:
    """No encoding of the rows is longer. Memory is only used where it is written."""
    headers = int(columns.header_lists[-1]) - int(columns.header_lists[0])
    data = sum(
        int(offsets[-1]) - int(offsets[0])
        for offsets in (
            columns.key_offsets,
            columns.value_offsets,
            columns.header_key_offsets,
            columns.header_value_offsets,
        )
    )
    data += int(views.numbers[:, kernels.VIEW_LENGTH].sum(dtype=np.int64))
    per_row = HEADER_BYTES + kernels.RECORD_OVERHEAD_BYTES_MAX
    return int(data + rows.num_rows * per_row + headers * kernels.HEADER_OVERHEAD_BYTES_MAX)


def _finished(room: memoryview, entry: list[int], codec: Codec, leader_epoch: int) -> memoryview:
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
        attributes=codec,
        last_offset_delta=last_delta,
        base_timestamp_ms=base_time,
        max_timestamp_ms=max_time,
        producer_id=NO_PRODUCER,
        producer_epoch=-1,
        base_sequence=-1,
        record_count=count,
    )
    batch[:HEADER_BYTES] = pack_header(header)
    batch[:HEADER_BYTES] = pack_header(header._replace(crc=crc_of(batch)))
    return batch
