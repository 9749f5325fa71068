"""Reads the values of a row group without a copy: decompressed Parquet pages become the buffers of an Arrow view array.

    chunk = page header | page | page header | page ...      page = levels | length value | length value | ...

Arrow's own reader copies every value once more, from the page into a column that grows. This module reads only what our
writer makes of values without nulls: plain encoding; zstd, lz4 or no compression; pages of the first version. Anything
else is left to Arrow. The bytes have passed their checksums but are still not trusted: a page that does not fit is
reported as damaged.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.storage.records.arrays import as_array
from lakestream.storage.records.header import Bytes
from lakestream.storage.records.kernels.views import VIEW_NUMBERS, plain_views
from lakestream.storage.records.paged import ValuePage
from lakestream.storage.tablefile.format.thrift import BadThrift, read_struct, read_varint

_PLAIN_ENCODINGS = {"PLAIN", "RLE"}
"""RLE is the encoding of the levels, which mark nulls."""
_CODECS = {"ZSTD": "zstd", "LZ4": "lz4_raw", "UNCOMPRESSED": None}
"""Codecs: Parquet's name in the footer, and Arrow's name."""
_DATA_PAGE = 0
_PLAIN = 0
# Fields of Parquet's PageHeader, and of its DataPageHeader.
_TYPE, _UNCOMPRESSED_BYTES, _COMPRESSED_BYTES, _DATA_PAGE_HEADER = 1, 2, 3, 5
_VALUES, _ENCODING = 1, 2
_LEVELS_LENGTH_BYTES = 4


_HEAP = pa.system_memory_pool()
"""The process's own heap reuses freed pages; Arrow's pool returns them, and each page would be faulted in again."""


class BadPages(ValueError):
    """The bytes are no pages of plain values."""


class _Page(NamedTuple):
    at: int
    compressed_bytes: int
    bytes: int
    values: int


def are_plain(column: pq.ColumnSchema, chunk: pq.ColumnChunkMetaData) -> bool:
    """Whether a column of a row group can be read here. Nulls show only in its pages."""
    return (
        (column.max_definition_level, column.max_repetition_level) == (1, 0)
        and set(chunk.encodings) <= _PLAIN_ENCODINGS
        and not chunk.has_dictionary_page
        and chunk.compression in _CODECS
    )


def plain_pages(chunk: pq.ColumnChunkMetaData, data: Bytes) -> Iterator[ValuePage]:
    """The values of a chunk, from its bytes, up to the first page with a null. Each page is decompressed on demand.
    Raises BadPages."""
    whole = pa.py_buffer(data)
    codec = None if (name := _CODECS[chunk.compression]) is None else pa.Codec(name)
    at = filled = 0
    while filled < chunk.num_values:
        header = _page(whole, at)
        if header.values > chunk.num_values - filled:
            raise BadPages("its pages hold more values than it has")
        page = whole.slice(header.at, header.compressed_bytes)
        if codec is not None:
            page = codec.decompress(page, decompressed_size=header.bytes, memory_pool=_HEAP)
        start = _values_at(page, header.values)
        if start is None:
            return
        yield _views(page, start, header.values)
        filled += header.values
        at = header.at + header.compressed_bytes


def _page(chunk: pa.Buffer, at: int) -> _Page:
    try:
        header, start = read_struct(memoryview(chunk), at)
        about = header[_DATA_PAGE_HEADER]
        page = _Page(start, header[_COMPRESSED_BYTES], header[_UNCOMPRESSED_BYTES], about[_VALUES])
        is_plain = header[_TYPE] == _DATA_PAGE and about[_ENCODING] == _PLAIN
    except (BadThrift, LookupError, TypeError) as error:
        raise BadPages(f"there is no page at {at}") from error
    fits = 0 <= page.compressed_bytes <= chunk.size - start and page.bytes >= _LEVELS_LENGTH_BYTES
    if not (is_plain and fits and page.values > 0):
        raise BadPages(f"the page at {at} does not hold plain values")
    return page


def _values_at(page: pa.Buffer, values: int) -> int | None:
    """Where the values begin, behind the levels; None unless the levels are one run that marks all values as
    present."""
    content = memoryview(page)
    levels = content[
        _LEVELS_LENGTH_BYTES : _LEVELS_LENGTH_BYTES + int.from_bytes(content[:_LEVELS_LENGTH_BYTES], "little")
    ]
    try:
        run, at = read_varint(levels, 0)
        is_one_run = not run & 1 and run >> 1 == values and levels[at] == 1
    except (BadThrift, IndexError) as error:
        raise BadPages("a page has no levels") from error
    return _LEVELS_LENGTH_BYTES + len(levels) if is_one_run else None


def _views(page: pa.Buffer, start: int, count: int) -> ValuePage:
    views = np.empty((count, VIEW_NUMBERS), np.int32)
    if not plain_views(as_array(memoryview(page)), start, count, 0, views, 0):
        raise BadPages("a page holds other values than its header says")
    views.flags.writeable = False
    return ValuePage(views, page)
