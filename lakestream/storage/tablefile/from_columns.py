"""Rows of the table back to records: one row group, only the columns that are needed, from the bytes of just those.

The bytes lie in one stretch of the file. Parquet's reader wants a whole file, so it gets one that has nothing but this
stretch; its buffers are slices, not copies. Columns that hold nothing (no headers, no keys) are told by the footer and
not read at all. Values, most of the bytes, stay in their pages where they can (pages.py).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.records.encode import VIEWS_SCHEMA
from lakestream.storage.records.header import HEADER_BYTES, NO_TIMESTAMP, Bytes
from lakestream.storage.tablefile.blocks import BadBlocks
from lakestream.storage.tablefile.columns import HEADERS, KEY, OFFSET, TIMESTAMP, VALUE
from lakestream.storage.tablefile.errors import MalformedTableFile
from lakestream.storage.tablefile.footer import Footer
from lakestream.storage.tablefile.metrics import starts_at
from lakestream.storage.tablefile.pages import BadPages, are_plain, plain_values
from lakestream.storage.tablefile.typed import HIDDEN_OF_TYPED, Restorer

RECORD_COLUMNS = (OFFSET, TIMESTAMP, KEY, HEADERS, VALUE)
TIME_COLUMNS = (OFFSET, TIMESTAMP)


class GroupBytes(NamedTuple):
    """Which bytes of the file to get, for which columns of which row group: whole blocks, to be checked."""

    group: int
    columns: tuple[str, ...]
    at: int
    length: int

    def without(self, column: str) -> "GroupBytes":
        return self._replace(columns=tuple(name for name in self.columns if name != column))


class Times(NamedTuple):
    offsets: NDArray[np.int64]
    timestamps_ms: NDArray[np.int64]


def record_columns(footer: Footer) -> tuple[str, ...]:
    """The columns that make up records: where values are in typed columns, these and the hidden ones as well."""
    if footer.rules is None:
        return RECORD_COLUMNS
    return (*footer.typed_columns, *HIDDEN_OF_TYPED, *RECORD_COLUMNS)


def bytes_of_group(footer: Footer, group: int, columns: Sequence[str]) -> GroupBytes:
    """From the first of the columns to the last: they are written side by side. Those without content are left out."""
    parquet = footer.metadata.row_group(group)
    chunks = [parquet.column(at) for at in range(parquet.num_columns)]
    wanted = [chunk for chunk in chunks if _root(chunk) in columns and not _is_empty(chunks, _root(chunk))]
    at = min(starts_at(chunk) for chunk in wanted)
    end = max(starts_at(chunk) + chunk.total_compressed_size for chunk in wanted)
    if not 0 <= at < end <= footer.blocks.covered_bytes:
        raise MalformedTableFile(f"table file {footer.path} places row group {group} outside of itself: restore it")
    held = {_root(chunk) for chunk in wanted}
    return GroupBytes(group, tuple(name for name in columns if name in held), *footer.blocks.around(at, end - at))


def rows_of_group(footer: Footer, wanted: GroupBytes, data: Bytes, restorer: Restorer) -> pa.RecordBatch:
    """The records of a row group, as `records.encode` takes them."""
    _check_bytes(footer, wanted, data)
    plain = _plain_values(footer, wanted, data)
    table = _read(footer, wanted if plain is None else wanted.without(VALUE), data)
    rows = pa.RecordBatch.from_arrays(
        [
            _column(table, OFFSET),
            pa.array(_millis(_column(table, TIMESTAMP))),
            _column(table, KEY) if KEY in wanted.columns else pa.nulls(table.num_rows, pa.binary()),
            _values(footer, wanted, table, restorer) if plain is None else plain,
            _column(table, HEADERS) if HEADERS in wanted.columns else _no_headers(table.num_rows),
        ],
        schema=SCHEMA if plain is None else VIEWS_SCHEMA,
    )
    _check_offsets(footer, wanted.group, rows.column("offset").to_numpy())
    _check_raw(footer, wanted.group, rows.column("value"))
    return rows


def _plain_values(footer: Footer, wanted: GroupBytes, data: Bytes) -> pa.Array | None:
    """The values where they can be read without a copy; None: not here."""
    if footer.rules is not None:
        return None
    parquet = footer.metadata.row_group(wanted.group)
    at, chunk = next(
        (at, chunk) for at in range(parquet.num_columns) if (chunk := parquet.column(at)).path_in_schema == VALUE
    )
    if not are_plain(footer.metadata.schema.column(at), chunk):
        return None
    start = starts_at(chunk) - wanted.at
    try:
        return plain_values(chunk, memoryview(data)[start : start + chunk.total_compressed_size])
    except (BadPages, pa.ArrowException, OSError) as error:
        raise _damaged(footer, wanted, error) from error


def _values(footer: Footer, wanted: GroupBytes, table: pa.Table, restorer: Restorer) -> pa.Array:
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


def times_of_group(footer: Footer, wanted: GroupBytes, data: Bytes) -> Times:
    _check_bytes(footer, wanted, data)
    table = _read(footer, wanted, data)
    times = Times(_column(table, OFFSET).to_numpy(), _millis(_column(table, TIMESTAMP)))
    _check_offsets(footer, wanted.group, times.offsets)
    return times


def _check_offsets(footer: Footer, group: int, offsets: NDArray[np.int64]) -> None:
    """The rows are those that the footer promises: encoding relies on it, and so do readers."""
    runs = footer.groups[group]
    ends = np.cumsum([run.rows for run in runs])
    starts = ends - [run.rows for run in runs]
    rises = np.diff(offsets) > 0
    rises[ends[:-1] - 1] = True  # from one run to the next the footer itself was checked
    lasts = np.where([run.is_raw for run in runs], offsets[starts], [run.last_offset for run in runs])
    promised = np.array_equal(offsets[starts], [run.base_offset for run in runs])
    if not (promised and np.array_equal(offsets[ends - 1], lasts) and rises.all()):
        raise MalformedTableFile(
            f"row group {group} of table file {footer.path} does not hold the offsets that its footer lists: restore it"
        )


def _check_raw(footer: Footer, group: int, values: pa.Array) -> None:
    row = 0
    for run in footer.groups[group]:
        if run.is_raw and len(values[row].as_py() or b"") < HEADER_BYTES:
            raise MalformedTableFile(f"row {row} of row group {group} of table file {footer.path} holds no batch")
        row += run.rows


def _check_bytes(footer: Footer, wanted: GroupBytes, data: Bytes) -> None:
    if len(data) != wanted.length:
        raise MalformedTableFile(f"table file {footer.path} is cut short: restore the object")
    try:
        footer.blocks.check(wanted.at, data)
    except BadBlocks as error:
        raise _damaged(footer, wanted, error) from error


def _read(footer: Footer, wanted: GroupBytes, data: Bytes) -> pa.Table:
    """From bytes that were checked."""
    try:
        source = pa.PythonFile(_Stretch(data, wanted.at), mode="r")
        file = pq.ParquetFile(source, metadata=footer.metadata, pre_buffer=False)
        table = file.read_row_group(wanted.group, columns=list(wanted.columns), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(footer, wanted, error) from error
    return table


def _damaged(footer: Footer, wanted: GroupBytes, error: Exception) -> MalformedTableFile:
    return MalformedTableFile(
        f"row group {wanted.group} of table file {footer.path} is damaged: {error}. Restore the object"
    )


class _Stretch:
    """A file of which only the bytes from `at` on are there."""

    closed = False

    def __init__(self, data: Bytes, at: int) -> None:
        self._data = pa.py_buffer(data)
        self._at = at
        self._position = 0

    def seek(self, position: int, whence: int = 0) -> int:
        base = (0, self._position, self._at + self._data.size)[whence]
        self._position = base + position
        return self._position

    def tell(self) -> int:
        return self._position

    def read_buffer(self, length: int) -> pa.Buffer:
        start = self._position - self._at
        if not 0 <= start <= self._data.size:
            raise OSError(f"byte {self._position} lies outside of the row group")
        piece = self._data.slice(start, min(length, self._data.size - start))
        self._position += piece.size
        return piece

    def read(self, length: int) -> bytes:
        content: bytes = self.read_buffer(length).to_pybytes()
        return content

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        pass


def _root(chunk: pq.ColumnChunkMetaData) -> str:
    name: str = chunk.path_in_schema.partition(".")[0]
    return name


def _is_empty(chunks: Sequence[pq.ColumnChunkMetaData], name: str) -> bool:
    """Whether the statistics prove that every row has null, or no header, in this column."""
    statistics = next(chunk for chunk in chunks if _root(chunk) == name).statistics
    if name not in (KEY, HEADERS) or statistics is None or not statistics.has_null_count:
        return False
    return bool(statistics.num_values == 0)


def _column(table: pa.Table, name: str) -> pa.Array:
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _millis(times: pa.Array) -> NDArray[np.int64]:
    micros = np.frombuffer(times.buffers()[1], np.int64)[times.offset : times.offset + len(times)]
    millis: NDArray[np.int64] = micros // 1000
    if times.null_count:
        millis[times.is_null().to_numpy(zero_copy_only=False)] = NO_TIMESTAMP
    return millis


def _no_headers(rows: int) -> pa.Array:
    nothing = pa.array([], SCHEMA.field("headers").type.value_type)
    lists = pa.py_buffer(np.zeros(rows + 1, np.int32))
    return pa.Array.from_buffers(SCHEMA.field("headers").type, rows, [None, lists], 0, children=[nothing])
