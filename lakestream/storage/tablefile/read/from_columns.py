"""Rows of a table file back to records: one row group at a time, reading only the bytes of the needed columns.

    rows_of_group    all of its records, to be kept
    columns_of_group the columns of the table, for a reader that wants rows
    RowGroup         its values a page at a time, and its other columns (page_by_page.py)

The bytes lie in one stretch of the file. Parquet's reader wants a whole file, so it gets one that has nothing but this
stretch; its buffers are slices, not copies. Values, most of the bytes, stay in their pages where possible (pages.py).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import VIEWS_SCHEMA
from lakestream.storage.records.header import HEADER_BYTES, NO_TIMESTAMP, Bytes
from lakestream.storage.records.paged import ValuePage
from lakestream.storage.tablefile.format.blocks import BadBlocks
from lakestream.storage.tablefile.format.columns import HEADERS, KEY, OFFSET, TIMESTAMP, VALUE
from lakestream.storage.tablefile.format.errors import MalformedTableFile
from lakestream.storage.tablefile.format.file_stretch import FileStretch
from lakestream.storage.tablefile.format.footer import FileFooter
from lakestream.storage.tablefile.format.typed import Restorer
from lakestream.storage.tablefile.read.group_bytes import RECORD_COLUMNS, GroupBytes
from lakestream.storage.tablefile.read.pages import BadPages, are_plain, plain_pages
from lakestream.storage.tablefile.write.metrics import starts_at

_OTHERS = (OFFSET, TIMESTAMP, KEY, HEADERS)
_OTHERS_SCHEMA = SCHEMA.remove(SCHEMA.get_field_index("value"))


class Times(NamedTuple):
    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]


class RowGroup:
    """A row group, made from its bytes, which are checked first. For raw topics, columns are read only on demand."""

    def __init__(self, footer: FileFooter, wanted: GroupBytes, data: Bytes, restorer: Restorer) -> None:
        _check_bytes(footer, wanted, data)
        self._footer = footer
        self._wanted = wanted
        self._data = data
        self._restorer = restorer
        self._all = None if footer.rules is None else _read(footer, wanted, data)
        """A file with typed columns needs them all to restore values, so all columns are read at once."""

    def others(self) -> pa.RecordBatch:
        """The columns of all records except their values."""
        return _others(self._footer, self._wanted, self._read(_OTHERS))

    def value_pages(self) -> Iterator[ValuePage]:
        """The values, page by page, as far as they can be read without a copy: perhaps none."""
        return _value_pages(self._footer, self._wanted, self._data)

    def values(self) -> pa.Array:
        """All values, as Arrow reads them."""
        return _values(self._footer, self._wanted, self._read((VALUE,)), self._restorer)

    def records(self, others: pa.RecordBatch, values: pa.Array, first: int) -> pa.RecordBatch:
        """The group's rows from `first` on, one for each of `values`, in the form that `records.encode` takes."""
        _check_raw(self._footer, self._wanted.group, values, first)
        offset, timestamp, key, headers = others.slice(first, len(values)).columns
        schema = VIEWS_SCHEMA if pa.types.is_binary_view(values.type) else SCHEMA
        return pa.RecordBatch.from_arrays([offset, timestamp, key, values, headers], schema=schema)

    def _read(self, columns: Sequence[str]) -> pa.Table:
        return self._all if self._all is not None else _read(self._footer, self._wanted.only(columns), self._data)


def rows_of_group(footer: FileFooter, wanted: GroupBytes, data: Bytes, restorer: Restorer) -> pa.RecordBatch:
    """All records of a row group at once."""
    group = RowGroup(footer, wanted, data, restorer)
    others = group.others()
    pages = [page.array() for page in group.value_pages()]
    is_whole = sum(map(len, pages)) == others.num_rows
    return group.records(others, pa.concat_arrays(pages) if is_whole else group.values(), 0)


def columns_of_group(
    footer: FileFooter, wanted: GroupBytes, data: Bytes, restorer: Restorer, *, restore: bool
) -> pa.RecordBatch:
    """The wanted columns of a row group, as they are in the file; columns that hold nothing are left out. With
    `restore`, `__value` has the bytes of every value, also of those that lie in typed columns alone."""
    _check_bytes(footer, wanted, data)
    table = _read(footer, wanted, data)
    columns = {name: _column(table, name) for name in wanted.columns}
    _check_offsets(footer, wanted.group, columns[OFFSET].to_numpy())
    if restore:
        columns[VALUE] = _values(footer, wanted, table, restorer)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _others(footer: FileFooter, wanted: GroupBytes, table: pa.Table) -> pa.RecordBatch:
    """The columns of all records except their values, checked."""
    others = pa.RecordBatch.from_arrays(
        [
            _column(table, OFFSET),
            pa.array(_millis(_column(table, TIMESTAMP))),
            _column(table, KEY) if KEY in wanted.columns else pa.nulls(table.num_rows, pa.binary()),
            _column(table, HEADERS) if HEADERS in wanted.columns else no_headers(table.num_rows),
        ],
        schema=_OTHERS_SCHEMA,
    )
    _check_offsets(footer, wanted.group, others.column(0).to_numpy())
    return others


def _value_pages(footer: FileFooter, wanted: GroupBytes, data: Bytes) -> Iterator[ValuePage]:
    if footer.rules is not None:
        return
    parquet = footer.metadata.row_group(wanted.group)
    at = footer.leaves.index(VALUE)
    chunk = parquet.column(at)
    if not are_plain(footer.metadata.schema.column(at), chunk):
        return
    start = starts_at(chunk) - wanted.at
    try:
        yield from plain_pages(chunk, memoryview(data)[start : start + chunk.total_compressed_size])
    except (BadPages, pa.ArrowException, OSError) as error:
        raise _damaged(footer, wanted, error) from error


def _values(footer: FileFooter, wanted: GroupBytes, table: pa.Table, restorer: Restorer) -> pa.Array:
    if footer.rules is None:
        return _column(table, VALUE)
    names = [name for name in wanted.columns if name not in RECORD_COLUMNS or name == VALUE]
    rows = pa.RecordBatch.from_arrays([_column(table, name) for name in names], names=names)
    try:
        return restorer.restore(footer.rules, rows)
    except (ValueError, LookupError, pa.ArrowException) as error:
        raise MalformedTableFile(
            f"the values of row group {wanted.group} of table file {footer.path} cannot be read from their columns: "
            f"{error}. Restore the object, or run the version that wrote it"
        ) from error


def times_of_group(footer: FileFooter, wanted: GroupBytes, data: Bytes) -> Times:
    _check_bytes(footer, wanted, data)
    table = _read(footer, wanted, data)
    times = Times(_column(table, OFFSET).to_numpy(), _millis(_column(table, TIMESTAMP)))
    _check_offsets(footer, wanted.group, times.offsets)
    return times


def _check_offsets(footer: FileFooter, group: int, offsets: NDArray[np.int64]) -> None:
    """Check that the rows are those that the footer promises: encoding and readers rely on it."""
    first = 0
    fit = len(offsets) == sum(run.rows for run in footer.groups[group])
    for run in footer.groups[group] if fit else ():
        own = offsets[first : first + run.rows]
        last = run.base_offset if run.is_raw else run.last_offset
        fit = fit and bool(own[0] == run.base_offset and own[-1] == last and (own[1:] > own[:-1]).all())
        first += run.rows
    if not fit:
        raise MalformedTableFile(
            f"row group {group} of table file {footer.path} does not hold the offsets that its footer lists: restore it"
        )


def _check_raw(footer: FileFooter, group: int, values: pa.Array, first: int) -> None:
    """Check that each promised raw batch is at least as long as a header. `first` is the row of the first value."""
    row = 0
    for run in footer.groups[group]:
        is_here = run.is_raw and first <= row < first + len(values)
        if is_here and len(values[row - first].as_py() or b"") < HEADER_BYTES:
            raise MalformedTableFile(f"row {row} of row group {group} of table file {footer.path} holds no batch")
        row += run.rows


def _check_bytes(footer: FileFooter, wanted: GroupBytes, data: Bytes) -> None:
    if len(data) != wanted.length:
        raise MalformedTableFile(f"table file {footer.path} is cut short: restore the object")
    try:
        footer.blocks.check(wanted.at, data)
    except BadBlocks as error:
        raise _damaged(footer, wanted, error) from error


def _read(footer: FileFooter, wanted: GroupBytes, data: Bytes) -> pa.Table:
    """Read columns from bytes whose checksums were checked."""
    try:
        source = pa.PythonFile(FileStretch(data, wanted.at), mode="r")
        file = pq.ParquetFile(source, metadata=footer.metadata, pre_buffer=False)
        table = file.read_row_group(wanted.group, columns=list(wanted.columns), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(footer, wanted, error) from error
    return table


def _damaged(footer: FileFooter, wanted: GroupBytes, error: Exception) -> MalformedTableFile:
    return MalformedTableFile(
        f"row group {wanted.group} of table file {footer.path} is damaged: {error}. Restore the object"
    )


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _millis(times: pa.Array) -> NDArray[np.int64]:
    micros = np.frombuffer(times.buffers()[1], np.int64)[times.offset : times.offset + len(times)]
    millis: NDArray[np.int64] = micros // 1000
    if times.null_count:
        millis[times.is_null().to_numpy(zero_copy_only=False)] = NO_TIMESTAMP
    return millis


def no_headers(rows: int) -> pa.Array:
    nothing = pa.array([], SCHEMA.field("headers").type.value_type)
    lists = pa.py_buffer(np.zeros(rows + 1, np.int32))
    return pa.Array.from_buffers(SCHEMA.field("headers").type, rows, [None, lists], 0, children=[nothing])
