"""Writes a table file: stretches of the log in, Parquet and its descriptor out.

    stretches, by partition and offset -> cut into row groups -> columns -> Parquet -> footer and descriptor

Memory holds one row group, whatever the size of the file: finished groups go to the sink. Compression is zstd at level
1, unless the table says otherwise. Offsets and times are written as deltas; keys and values as plain bytes, which
measured smaller and faster than delta lengths under zstd. The first rows of the user's columns decide their encodings
(encodings.py). Blocks carry checksums of our own (blocks.py).
"""

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq

from lakestream.model.file_compression import DEFAULT_COMPRESSION, UNCOMPRESSED, FileCompression
from lakestream.storage.records.decode import SCHEMA
from lakestream.storage.tablefile.format.blocks import SummingSink
from lakestream.storage.tablefile.format.columns import (
    BY_NAME,
    FORM,
    HEADERS,
    KEY,
    LEAF_IDS,
    OFFSET,
    PARTITION,
    SCHEMA_ID,
    SHAPE,
    TIMESTAMP,
    VALUE,
    arrow_schema,
)
from lakestream.storage.tablefile.format.descriptor import FileDescriptor
from lakestream.storage.tablefile.format.errors import UnstorableRows
from lakestream.storage.tablefile.format.runs import FOOTER_KEY, RowRun, continues, joined, pack_runs
from lakestream.storage.tablefile.format.sink import Parts, Sink
from lakestream.storage.tablefile.format.typed import HIDDEN_OF_TYPED, VALUES_KEY, field_id, leaf_ids
from lakestream.storage.tablefile.write.bounds import Bounds
from lakestream.storage.tablefile.write.encodings import DELTAS, NO_CODEC, encodings_of
from lakestream.storage.tablefile.write.metrics import described
from lakestream.storage.tablefile.write.sizes import RowGroupLimits, bytes_before_row, rows_that_fit
from lakestream.storage.tablefile.write.stretch import Stretch
from lakestream.storage.tablefile.write.to_columns import in_columns
from lakestream.world.objects.store import Buffer

RUNS_MAX = 512
"""With more runs than this in a row group, a change of codec no longer starts a new one: two producers of different
codecs that take turns record by record would make the footer larger than the rows."""
_BATCH_ROWS = 4_096
"""Rows that Parquet's writer takes at a time: its default of 1,024 took a twentieth more time."""
_BOUNDED = (PARTITION, OFFSET, TIMESTAMP, KEY, VALUE)
"""For values only nulls are counted: payloads mostly begin alike, no query asks for a range of them, and comparing the
beginning of each took a twentieth of the time."""
_STATISTICS = [PARTITION, OFFSET, TIMESTAMP, KEY, f"{HEADERS}.list.element.key", FORM]
"""Columns with statistics for each row group. Values have none: theirs would be longer than all the others together."""
_BARE = (PARTITION, OFFSET, FORM, SCHEMA_ID, SHAPE)
"""Not compressed: they take a few bytes in a row group, and zstd would not make them fewer."""


def write_table_file(
    stretches: Iterable[Stretch],
    *,
    path: str,
    with_form: bool = False,
    typed: pa.Schema | None = None,
    keys: pa.Schema | None = None,
    rules: str = "",
    limits: RowGroupLimits | None = None,
    compression: FileCompression = DEFAULT_COMPRESSION,
) -> tuple[list[Buffer], FileDescriptor]:
    """Write a whole file to memory. `path` is the file's path in the descriptor."""
    sink = Parts()
    writer = TableFileWriter(sink, with_form=with_form, typed=typed, keys=keys, limits=limits, compression=compression)
    for stretch in stretches:
        writer.add(stretch)
    return sink.parts, writer.close(path=path, rules=rules)


class TableFileWriter:
    """Add stretches in order of partition and offset, then close. A file without rows stands for holes alone."""

    def __init__(
        self,
        sink: Sink,
        *,
        with_form: bool = False,
        typed: pa.Schema | None = None,
        keys: pa.Schema | None = None,
        limits: RowGroupLimits | None = None,
        compression: FileCompression = DEFAULT_COMPRESSION,
    ) -> None:
        """`with_form` adds the column that raw batches need: a file that may get one must have it. `typed` are the
        user's columns: with them every stretch must come typed, and may have columns of `keys`, too."""
        self._typed = typed
        self._own = [*(typed if typed is not None else ()), *(keys if keys is not None else ())]
        self._schema = file_schema(typed, keys, with_form=with_form)
        self._leaves = LEAF_IDS | leaf_ids(pa.schema(self._own))
        self._with_form = with_form
        self._compression = compression
        self._limits = limits or RowGroupLimits()
        self._out = SummingSink(sink)
        self._metadata: list[pq.FileMetaData] = []
        self._parquet: pq.ParquetWriter | None = None
        self._groups: list[list[RowRun]] = []
        self._open: list[Stretch] = []
        self._runs: list[RowRun] = []
        self._rows = 0
        self._bytes = 0
        self._last = (-1, -1)
        self._bounds = {
            field.name: Bounds(field.type, nulls_only=field.name == VALUE)
            for field in self._schema
            if field.name in _BOUNDED or (field.name not in BY_NAME and not pa.types.is_nested(field.type))
        }

    @property
    def bytes_written(self) -> int:
        """Bytes of finished row groups, which have gone to the sink. The open row group is not counted."""
        return self._out.bytes

    @property
    def parquet_schema(self) -> pq.ParquetSchema:
        """The columns of the closed file, with their field ids."""
        return self._metadata[0].schema

    def add(self, stretch: Stretch) -> None:
        self._check(stretch)
        if stretch.partition != self._last[0] and self._is_worth_closing():
            self._close_group()
        starts = bytes_before_row(stretch.rows, 0 if stretch.typed is None else stretch.typed.nbytes)
        first, count = 0, stretch.rows.num_rows
        while first < count:
            fit = rows_that_fit(starts, first, self._limits.rows_max - self._rows, self._limits.bytes_max - self._bytes)
            if fit == 0 and self._rows:
                self._close_group()
                continue
            taken = max(fit, 1)  # a row above the bound has a group of its own
            self._take(stretch, first, taken, int(starts[first + taken] - starts[first]))
            first += taken
        self._last = (stretch.partition, stretch.last_offset)

    def close(self, *, path: str, rules: str = "") -> FileDescriptor:
        """Write the open row group and the footer. The sink stays open: it is the caller's. `rules` tell how to read
        values from typed columns."""
        if self._rows:
            self._close_group()
        if self._parquet is None:
            self._parquet = self._opened(self._schema.empty_table())
        values = {} if self._typed is None else {VALUES_KEY: rules}
        self._parquet.add_key_value_metadata({FOOTER_KEY: pack_runs(self._groups)} | values)
        self._out.hold()
        self._parquet.close()
        self._out.finish()
        runs = [run for group in self._groups for run in group]
        bounds = {field_id(self._schema.field(name)): each for name, each in self._bounds.items()}
        return described(path, self.bytes_written, self._metadata[0], bounds, runs, self._leaves)

    def _check(self, stretch: Stretch) -> None:
        rows = stretch.rows
        if rows.schema.types != SCHEMA.types or rows.schema.names != SCHEMA.names or rows.num_rows == 0:
            raise UnstorableRows(f"rows have schema {rows.schema}; pass at least one of {SCHEMA}")
        first = (stretch.partition, rows.column("offset")[0].as_py())
        if first <= self._last:
            raise UnstorableRows(f"partition and offset {first} follow {self._last}: sort the stretches first")
        if (stretch.typed is None) != (self._typed is None):
            raise UnstorableRows("a file has typed columns for all of its rows, or for none: open it so")
        if stretch.is_raw and not self._with_form and self._typed is None:
            raise UnstorableRows("a raw batch needs the form column: open the file with it")

    def _is_worth_closing(self) -> bool:
        return self._rows >= self._limits.alone_rows or self._bytes >= self._limits.alone_bytes

    def _take(self, stretch: Stretch, first: int, count: int, size: int) -> None:
        taken = stretch.slice(first, count)
        rows = taken.rows
        self._open.append(taken)
        self._rows += count
        self._bytes += size
        offsets, times = rows.column("offset"), rows.column("timestamp")
        run = RowRun(
            partition=stretch.partition,
            rows=count,
            base_offset=offsets[0].as_py(),
            last_offset=stretch.last_offset if stretch.is_raw else offsets[-1].as_py(),
            source=stretch.source,
            max_timestamp_ms=int(times.to_numpy().max()),
        )
        if self._runs and continues(self._runs[-1], run, crowded=len(self._runs) >= RUNS_MAX):
            self._runs[-1] = joined(self._runs[-1], run)
        else:
            self._runs.append(run)

    def _close_group(self) -> None:
        table = in_columns(self._open, self._schema)
        for name, bounds in self._bounds.items():
            bounds.count(table.column(name))
        if self._parquet is None:
            self._parquet = self._opened(table)
        self._parquet.write_table(table, row_group_size=self._rows)
        self._groups.append(self._runs)
        self._open, self._runs, self._rows, self._bytes = [], [], 0, 0

    def _opened(self, first: pa.Table) -> pq.ParquetWriter:
        own = [field.name for field in self._own if field.name in self._bounds]
        few, deltas, bare = encodings_of(first.select(own))
        paths = list(map(".".join, self._leaves))
        codec = NO_CODEC if self._compression.codec == UNCOMPRESSED else self._compression.codec
        compressed = [path for path in paths if path not in _BARE and path not in bare]
        return pq.ParquetWriter(
            pa.PythonFile(self._out, mode="w"),
            self._schema,
            compression=dict.fromkeys(paths, NO_CODEC) | dict.fromkeys(compressed, codec),
            compression_level=self._levels(compressed),
            use_dictionary=[PARTITION, FORM, SCHEMA_ID, SHAPE, *few],
            column_encoding=dict.fromkeys([OFFSET, TIMESTAMP, *deltas], DELTAS),
            write_statistics=[*_STATISTICS, *own],
            write_batch_size=_BATCH_ROWS,
            store_schema=False,
            store_decimal_as_integer=True,
            metadata_collector=self._metadata,
        )

    def _levels(self, compressed: list[str]) -> dict[str, int] | None:
        level = self._compression.level
        return None if level is None or not compressed else dict.fromkeys(compressed, level)


def file_schema(typed: pa.Schema | None, keys: pa.Schema | None, *, with_form: bool) -> pa.Schema:
    """The user's columns, the visible system columns, and the needed hidden ones. Columns of keys come last: replay
    takes keys from `__key`, and should not read them for nothing."""
    if typed is None:
        return arrow_schema((FORM,) if with_form else ())
    return pa.schema([*typed, *arrow_schema(HIDDEN_OF_TYPED), *(keys if keys is not None else ())])
