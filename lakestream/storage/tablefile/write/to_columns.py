"""Records to rows of the table: the same buffers under other names; only partition, time and form are computed.

Typed columns are passed through. Long stretches are not copied together: each is a chunk of the table.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.model.row_form import Form
from lakestream.storage.records.header import NO_TIMESTAMP
from lakestream.storage.tablefile.format.columns import (
    FORM,
    HEADERS,
    KEY,
    OFFSET,
    PARTITION,
    TIMESTAMP,
    TIMESTAMP_TYPE,
    VALUE,
)
from lakestream.storage.tablefile.write.stretch import TIMESTAMP_MS_MAX, TIMESTAMP_MS_MIN, Stretch

CHUNK_ROWS_MIN = 1_024
"""Stretches that are shorter than this on average are copied into one: Parquet and bounds also cost by the piece."""


def in_columns(stretches: Sequence[Stretch], schema: pa.Schema) -> pa.Table:
    rows = sum(stretch.rows.num_rows for stretch in stretches)
    if rows < CHUNK_ROWS_MIN * len(stretches):
        return pa.Table.from_batches([_chunk(stretches, schema)])
    return pa.Table.from_batches([_chunk([stretch], schema) for stretch in stretches])


def _chunk(stretches: Sequence[Stretch], schema: pa.Schema) -> pa.RecordBatch:
    rows = _together([stretch.rows for stretch in stretches])
    counts = [stretch.rows.num_rows for stretch in stretches]
    columns = {
        PARTITION: pa.array(np.repeat(np.array([each.partition for each in stretches], np.int32), counts)),
        OFFSET: rows.column("offset"),
        TIMESTAMP: times_in_micros(rows.column("timestamp").to_numpy()),
        KEY: rows.column("key"),
        HEADERS: rows.column("headers"),
        VALUE: rows.column("value"),
    }
    typed = [stretch.typed for stretch in stretches if stretch.typed is not None]  # of all stretches, or of none
    if typed:
        own = _together(typed)
        columns |= dict(zip(own.schema.names, own.columns, strict=True))
    elif FORM in schema.names:
        columns[FORM] = _forms(rows, np.repeat([each.is_raw for each in stretches], counts))
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def _together(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def times_in_micros(times_ms: NDArray[np.int64]) -> pa.Array:
    """Times in microseconds. -1 becomes null, as does an out-of-range time of a raw batch, which its run keeps."""
    if times_ms.min() > NO_TIMESTAMP and times_ms.max() <= TIMESTAMP_MS_MAX:  # true of nearly all
        return pa.array(times_ms * 1000).view(TIMESTAMP_TYPE)
    none = (times_ms == NO_TIMESTAMP) | (times_ms > TIMESTAMP_MS_MAX) | (times_ms < TIMESTAMP_MS_MIN)
    micros = np.where(none, 0, times_ms) * 1000
    return pa.array(micros, pa.int64(), mask=none).view(TIMESTAMP_TYPE)


def _forms(rows: pa.RecordBatch, is_raw: NDArray[np.bool_]) -> pa.Array:
    is_null = rows.column("value").is_null().to_numpy(zero_copy_only=False)
    forms = np.where(is_null, Form.NULL, Form.BYTES)
    return pa.array(np.where(is_raw, Form.RAW_BATCH, forms).astype(np.int32))
