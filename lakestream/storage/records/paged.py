"""Encodes records whose values come a page at a time, while their other columns are complete.

    rows = PagedRows(offset, timestamp, key, headers)    once
    rows.encode(first, page)                             for each page: batches, after which the page is not needed

Inspecting the columns takes longer than encoding a page of them, so it is done once.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakestream.storage.records.encode import NO_VALUES, EncodedBatch, check_nulls, columns_of, encode_columns
from lakestream.storage.records.header import Codec
from lakestream.storage.records.kernels.views import VIEW_LENGTH, Views


class ValuePage(NamedTuple):
    """Values without nulls, as Arrow's views."""

    views: NDArray[np.int32]
    """Four numbers for each value, read-only."""
    buffer: pa.Buffer
    """The buffer that the views point into."""

    @property
    def rows(self) -> int:
        return len(self.views)

    @property
    def value_bytes(self) -> int:
        """The size of these values alone. A large page may hold only a few of them, and its size must not be
        allocated."""
        return int(self.views[:, VIEW_LENGTH].sum(dtype=np.int64))

    def slice(self, first: int, end: int) -> "ValuePage":
        return ValuePage(self.views[first:end], self.buffer)

    def array(self) -> pa.Array:
        return pa.Array.from_buffers(pa.binary_view(), self.rows, [None, pa.py_buffer(self.views), self.buffer], 0)


class PagedRows:
    def __init__(self, offset: pa.Array, timestamp: pa.Array, key: pa.Array, headers: pa.Array) -> None:
        check_nulls(offset, timestamp, headers)
        self._columns, self._first_bits = columns_of(offset, timestamp, key, NO_VALUES, headers)

    def encode(
        self, first: int, page: ValuePage, *, batch_bytes_max: int, codec: Codec, log_append_time: bool = False
    ) -> list[EncodedBatch]:
        """Batches of the rows from `first` on, as many as the page has values."""
        end = first + page.rows
        columns = self._columns._replace(
            offset=self._columns.offset[first:end],
            timestamp=self._columns.timestamp[first:end],
            key_offsets=self._columns.key_offsets[first : end + 1],
            header_lists=self._columns.header_lists[first : end + 1],
        )
        first_bits = self._first_bits._replace(key=self._first_bits.key + first)
        return encode_columns(
            columns,
            first_bits,
            _views(page),
            page.value_bytes,
            batch_bytes_max=batch_bytes_max,
            codec=codec,
            log_append_time=log_append_time,
        )


def _views(page: ValuePage) -> Views:
    address: int = page.views.__array_interface__["data"][0]
    places = np.array([(address, page.views.nbytes), (page.buffer.address, page.buffer.size)], np.int64)
    places.flags.writeable = False
    return Views(page.views, places)
