"""Where to cut rows into row groups: small enough for cheap seeks, large enough for cheap scans.

A reader that wants one record takes the whole row group that holds it, so a group has a bound in rows and one in bytes;
a group holds one partition alone unless partitions are small.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

ROW_BYTES = 24
"""Bytes of a row in addition to key, value and headers: partition, offset, timestamp and lengths."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroupLimits:
    rows_max: int = 16_384
    bytes_max: int = 4 * 1024 * 1024
    """Before compression. Decoding takes 4 ms of a core; on S3 the bytes come in one answer."""
    alone_rows: int = 2_048
    alone_bytes: int = 512 * 1024
    """A group that holds this much is closed before another partition begins."""


def bytes_before_row(rows: pa.RecordBatch, typed_bytes: int = 0) -> NDArray[np.int64]:
    """How many bytes lie before each row, and before the end: rows + 1 rising numbers. Typed columns are assumed to be
    spread evenly over the rows."""
    key, value, headers = rows.column("key"), rows.column("value"), rows.column("headers")
    starts: NDArray[np.int64] = np.arange(rows.num_rows + 1, dtype=np.int64) * (
        ROW_BYTES + typed_bytes // max(rows.num_rows, 1)
    )
    starts += _starts(key)
    starts += _starts(value)
    lists = _starts(headers)
    if lists[-1] > lists[0]:
        header = headers.values
        starts += _starts(header.field("key"))[lists]
        starts += _starts(header.field("value"))[lists]
    starts -= starts[0]
    return starts


def rows_that_fit(starts: NDArray[np.int64], first: int, rows_left: int, bytes_left: int) -> int:
    """How many rows from `first` on fit into the rest of a group."""
    within = int(np.searchsorted(starts, starts[first] + bytes_left, side="right")) - 1
    return max(0, min(within - first, rows_left))


def _starts(array: pa.Array) -> NDArray[np.int32]:
    """The offsets buffer of a variable-length array, from where its slice begins."""
    if len(array) == 0:
        return np.zeros(1, np.int32)
    return np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1]
